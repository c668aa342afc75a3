// Package store keeps the records. A record is a document with indexed
// columns: the columns are what lists filter and sort by, the document is the
// record's JSON exactly as the API answers it, and SQL never looks inside.
//
// All SQL on records is in this package, one text for SQLite and PostgreSQL.
// The workspace leads every key, and every statement on tenant data carries it.
// What the engines do differently is in the packages sqlite and postgres,
// behind Engine; what both must do alike is in storetest.
package store
