package numbers

// SourceDays are days of sources: of each source a range that has all of them.
type SourceDays map[int32]DayRange

// DayRange is the days from the first to the last.
type DayRange struct{ First, Last int32 }

// Add adds the days from first to last.
func (d SourceDays) Add(source, first, last int32) {
	if old, known := d[source]; known {
		first, last = min(first, old.First), max(last, old.Last)
	}
	d[source] = DayRange{first, last}
}
