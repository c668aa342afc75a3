//go:build !linux

package main

func foremost() (done func()) { return func() {} }
