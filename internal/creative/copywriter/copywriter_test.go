package copywriter_test

import (
	"context"
	"testing"

	"fanfare/internal/creative"
	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/copywriter"
)

func text(s string) *string { return &s }

// bicycle is a brief with facts of all shapes.
func bicycle() *creative.Brief {
	fields := &brief.Fields{
		Product: text("Lumo 8 folding bike"), Price: text("£649"), PreviousPrice: text("£799"), Deadline: text("30 June"), Audience: text("commuters"), Place: text("Leeds"),
		Benefits: []string{"folds in ten seconds", "weighs 9.8 kg", "free puncture repair", "dishwasher safe mudguards"}, Proof: []string{"4.8 stars from 2,100 reviews"},
		CallToAction: text("Book a test ride"), Terms: text("while stocks last"),
	}
	return &creative.Brief{
		Prompt: fields.Text(), Facts: &brief.Understood{Language: "en", Kind: "product", KindConfidence: 1, Facts: fields.List()},
		Brand: creative.Brand{Name: "Lumo"}, Channels: []string{"search", "social", "email"}, Variants: 3, Seed: 7,
	}
}

func BenchmarkWrite(b *testing.B) {
	in := bicycle()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := copywriter.New().Write(context.Background(), in); err != nil {
			b.Fatal(err)
		}
	}
}
