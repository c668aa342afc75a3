//go:build !linux

package datadir

import "os"

func lastChange(f *os.File) (change, error) {
	info, err := f.Stat()
	if err != nil {
		return change{}, err
	}
	return changeOf(info), nil
}
