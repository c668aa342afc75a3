package numbers

import "fanfare/internal/fact"

// Kinds are the kinds of entities. Engines number them by their position.
var Kinds = [...]string{fact.KindCampaign, fact.KindCreative, fact.KindAudience}

// Positions in Kinds.
const (
	KindCampaign = iota
	KindCreative
	KindAudience
)

// BatchEntities are the entities that a batch names, numbered from 1 in the order
// in which they are added.
type BatchEntities struct {
	List        []BatchEntity
	connections map[string]int32
	last        string
	lastNumber  int32
	index       map[batchEntityKey]int32
}

type batchEntityKey struct {
	connection, kind int32
	external         string
}

// BatchEntity is an entity of a batch.
type BatchEntity struct {
	Connection            string
	Kind                  int32
	External              string
	Name, Record, Variant string
	// Key is the engine's number of the entity, 0 if it has none yet. Stored means
	// that the engine has all of it.
	Key    int32
	Stored bool
	// linked means that Record and Variant apply even if they are empty.
	linked bool
}

// NewBatchEntities returns an empty list.
func NewBatchEntities() *BatchEntities {
	return &BatchEntities{connections: map[string]int32{}, index: map[batchEntityKey]int32{}}
}

// Add returns the number of an entity, 0 if the row has none. A later name or
// record replaces an earlier one unless it is empty.
func (b *BatchEntities) Add(connection string, kind int32, e *fact.Entity) int32 {
	if !e.IsSet() {
		return 0
	}
	k := batchEntityKey{b.connection(connection), kind, e.Key()}
	n, found := b.index[k]
	if !found {
		b.List = append(b.List, BatchEntity{Connection: connection, Kind: kind, External: k.external})
		n = int32(len(b.List))
		b.index[k] = n
	}
	known := &b.List[n-1]
	if e.Name != "" {
		known.Name = e.Name
	}
	if e.Record != "" {
		known.Record = string(e.Record)
	}
	if e.VariantID != "" {
		known.Variant = string(e.VariantID)
	}
	return n
}

// connection returns the number of a connection. Rows of one connection follow
// each other, so the last one is remembered.
func (b *BatchEntities) connection(id string) int32 {
	if id == b.last && len(b.connections) > 0 {
		return b.lastNumber
	}
	n, found := b.connections[id]
	if !found {
		n = int32(len(b.connections))
		b.connections[id] = n
	}
	b.last, b.lastNumber = id, n
	return n
}

// Link sets or removes the record of an entity.
func (b *BatchEntities) Link(l *fact.Link) {
	for kind, name := range Kinds {
		if name != l.Kind {
			continue
		}
		if n := b.Add(string(l.Connection), int32(kind), &l.Entity); n > 0 {
			e := &b.List[n-1]
			e.Record, e.Variant, e.linked = string(l.Entity.Record), string(l.Entity.VariantID), true
		}
	}
}

// Merge completes an entity with the stored one.
func (e *BatchEntity) Merge(key int32, name, record, variant string) {
	e.Key = key
	if e.Name == "" {
		e.Name = name
	}
	if e.Record == "" && !e.linked {
		e.Record = record
	}
	if e.Variant == "" && !e.linked {
		e.Variant = variant
	}
	e.Stored = e.Name == name && e.Record == record && e.Variant == variant
}
