package pgtables

import (
	"fmt"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
)

// The days that facts may have. Engines store facts by month, so a wrong year
// must not create thousands of partitions.
var (
	firstDay = clock.MakeDate(1900, 1, 1)
	lastDay  = clock.MakeDate(2200, 12, 31)
)

// CheckDay refuses a day that no fact can have.
func CheckDay(d clock.Date) error {
	if d < firstDay || d > lastDay {
		return fmt.Errorf("%s is not between %s and %s", d, firstDay, lastDay)
	}
	return nil
}

// CheckBatch refuses a batch that is not consistent, or has a day that no fact can
// have.
func CheckBatch(b *fact.Batch) error {
	if err := b.Check(); err != nil {
		return err
	}
	for i := range b.Rows {
		if err := CheckDay(b.Rows[i].Date); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	return nil
}
