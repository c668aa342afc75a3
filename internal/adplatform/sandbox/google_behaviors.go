package sandbox

// googleBehaviors are the simulated behaviors of Google Ads.
var googleBehaviors = []Behavior{}
