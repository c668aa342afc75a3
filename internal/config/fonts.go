package config

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// FontFolders returns the folders with fonts for pictures: the one of the setting,
// then those of the system that exist.
func (s *Settings) FontFolders() (list []fs.FS) {
	for _, dir := range append([]string{s.Fonts}, systemFontFolders()...) {
		if info, err := os.Stat(dir); dir != "" && err == nil && info.IsDir() {
			list = append(list, os.DirFS(dir))
		}
	}
	return list
}

// systemFontFolders returns where the operating system has its fonts.
func systemFontFolders() []string {
	switch runtime.GOOS {
	case "darwin":
		return []string{"/Library/Fonts", "/System/Library/Fonts"}
	case "windows":
		return []string{filepath.Join(os.Getenv("WINDIR"), "Fonts")}
	default:
		return []string{"/usr/local/share/fonts", "/usr/share/fonts"}
	}
}

// CheckFonts returns an error if the setting of fonts is no folder.
func (s *Settings) CheckFonts() error {
	if s.Fonts == "" {
		return nil
	}
	if info, err := os.Stat(s.Fonts); err != nil || !info.IsDir() {
		return fmt.Errorf("fonts %s is not a folder: correct it, or leave it out for the fonts of the system", s.Fonts)
	}
	return nil
}
