//go:build !linux

package main

func raisePriority() (done func()) { return func() {} }
