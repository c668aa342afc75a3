package record

import (
	"fanfare/internal/clock"
	"fanfare/internal/ident"
)

// AuditEntry is one entry of the audit log.
type AuditEntry struct {
	Seq       int64         `json:"seq"`
	At        clock.Instant `json:"at"`
	Action    string        `json:"action"`
	Actor     Actor         `json:"actor"`
	Target    ident.ID      `json:"target"`
	Address   string        `json:"ip"`
	RequestID ident.ID      `json:"request_id"`
}
