package picture

import (
	_ "embed"
	"image"
	"math"
	"sync"

	pigo "github.com/esimov/pigo/core"
	"golang.org/x/image/draw"
)

// faceData are the decision trees that find faces (data/LICENSE-facefinder.txt).
//
//go:embed data/facefinder
var faceData []byte

var faceFinder = sync.OnceValues(func() (*pigo.Pigo, error) { return pigo.NewPigo().Unpack(faceData) })

const (
	// facePixels is the longest side of the picture in which faces are sought.
	facePixels = 320
	// faceQuality is what a face must score. Choice: textures score up to 5; a
	// face that is not found only makes the crop as good as without the search.
	faceQuality = 8
)

// findFaces returns the faces in a photo with the hair and chin around them.
func findFaces(p *image.NRGBA) (list []image.Rectangle) {
	finder, err := faceFinder()
	if err != nil {
		return nil // The data is a constant, and a photo without faces is fine.
	}
	size := p.Rect.Size()
	shrink := min(1, facePixels/float64(max(size.X, size.Y)))
	w, h := int(float64(size.X)*shrink), int(float64(size.Y)*shrink)
	if min(w, h) < 32 {
		return nil
	}
	gray := image.NewGray(image.Rect(0, 0, w, h))
	draw.BiLinear.Scale(gray, gray.Rect, p, p.Rect, draw.Src, nil)
	found := finder.RunCascade(pigo.CascadeParams{
		MinSize: max(24, min(w, h)/9), MaxSize: min(w, h), ShiftFactor: 0.1, ScaleFactor: 1.1,
		ImageParams: pigo.ImageParams{Pixels: gray.Pix, Rows: h, Cols: w, Dim: gray.Stride},
	}, 0)
	for _, d := range finder.ClusterDetections(found, 0.2) {
		if d.Q < faceQuality {
			continue
		}
		half := float64(d.Scale) / shrink * 0.75
		x, y := float64(d.Col)/shrink, float64(d.Row)/shrink
		at := image.Rect(int(x-half), int(y-half*1.1), int(math.Ceil(x+half)), int(math.Ceil(y+half*1.1)))
		list = append(list, at.Intersect(p.Rect))
	}
	return list
}
