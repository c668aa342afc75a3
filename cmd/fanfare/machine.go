package main

import (
	"fmt"
	"syscall"
	"time"

	"fanfare/internal/datadir"
)

// clockFault returns an error if the clock is before the build date.
func clockFault() error {
	// A build without a date skips the check.
	built, err := time.Parse(time.RFC3339, buildDate)
	if t := now(); err == nil && t.Before(built) {
		return fmt.Errorf("the clock is at %s, before the build date of this program (%s): synchronize it with NTP", t.UTC().Format(time.RFC3339), buildDate)
	}
	return nil
}

// A warning is due below this free space.
const (
	lowSpace = 500 << 20
	lowShare = 0.05
)

// machineWarnings returns the limits of this machine that are too low: open
// files and disk space.
func machineWarnings(dir *datadir.Dir, connections int) []string {
	var list []string
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err == nil && files.Cur < uint64(connections)+200 {
		list = append(list, fmt.Sprintf("the open-file limit of %d is below what %d connections need: raise it with ulimit -n %d", files.Cur, connections, connections+200))
	}
	if free, share, err := dir.Free(); err == nil && lowDisk(free, share) {
		list = append(list, fmt.Sprintf("only %d MB (%.0f %%) are free on the disk of %s: free space before writes fail", free>>20, share*100, dir.Path()))
	}
	return list
}

func lowDisk(free uint64, share float64) bool { return free < lowSpace || share < lowShare }
