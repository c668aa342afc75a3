package s3

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
)

// scheme begins every setting that names a bucket.
const scheme = "s3://"

// defaultEndpoint is the address of Amazon's own service.
const defaultEndpoint = "https://s3.amazonaws.com"

// IsLocation reports whether a setting names a bucket and not a folder.
func IsLocation(setting string) bool { return strings.HasPrefix(setting, scheme) }

// Location is where files are: a bucket and the prefix of their keys.
type Location struct {
	Bucket string
	// Prefix is empty or ends in a slash.
	Prefix string
	// Endpoint is the URL of the service, without a path.
	Endpoint *url.URL
	// Region is empty if the service is to be asked.
	Region string
}

// example ends the messages about settings.
const example = "write it as s3://bucket/prefix?endpoint=https://host:port&region=eu-central-1"

var (
	bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	prefixName = regexp.MustCompile(`^([A-Za-z0-9_.=-]+/)*$`)
	regionName = regexp.MustCompile(`^[a-z0-9-]{0,64}$`)
)

// ParseLocation reads s3://bucket/prefix?endpoint=…&region=…. Its error names
// the fix and never repeats the setting, which may contain a secret by mistake.
func ParseLocation(setting string) (l Location, err error) {
	u, err := url.Parse(setting)
	if err != nil || u.Scheme+"://" != scheme {
		return l, errors.New("assets is no URL of a bucket: " + example)
	}
	if u.User != nil {
		return l, errors.New("assets has credentials in the URL: remove them, and set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead")
	}
	l.Bucket = u.Host
	if !bucketName.MatchString(l.Bucket) {
		return l, errors.New("assets has no valid name of a bucket: " + example)
	}
	if l.Prefix = strings.Trim(u.Path, "/"); l.Prefix != "" {
		l.Prefix += "/"
	}
	if !prefixName.MatchString(l.Prefix) || strings.Contains("/"+l.Prefix, "/./") || strings.Contains("/"+l.Prefix, "/../") || u.Fragment != "" {
		return l, errors.New("assets has a prefix that is no valid key: use letters, digits, and the characters _ . = - between single slashes")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return l, errors.New("assets has an unreadable query: " + example)
	}
	for name, values := range query {
		if name != "endpoint" && name != "region" || len(values) != 1 {
			return l, errors.New("assets has a parameter that is neither endpoint nor region, or has one twice: " + example)
		}
	}
	if l.Region = query.Get("region"); !regionName.MatchString(l.Region) {
		return l, errors.New("assets has an invalid region: write it as eu-central-1")
	}
	l.Endpoint, err = parseEndpoint(query.Get("endpoint"))
	return l, err
}

func parseEndpoint(text string) (*url.URL, error) {
	if text == "" {
		text = defaultEndpoint
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("assets has an endpoint that is no address: write it as endpoint=https://host:port")
	case u.Scheme == "https":
	case u.Scheme != "http":
		return nil, errors.New("assets has an endpoint that is neither https:// nor http://: write it as endpoint=https://host:port")
	case !loopback(u.Hostname()):
		return nil, fmt.Errorf("assets would send pictures to %s without encryption: use https://, or an address of this machine", u.Host)
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host}, nil
}

func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// String returns the location without its query.
func (l Location) String() string { return scheme + l.Bucket + "/" + l.Prefix }
