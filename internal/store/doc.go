// Package store stores the records in SQLite or PostgreSQL. A record is a JSON
// document with indexed columns. Lists filter and sort by the columns. The
// document is exactly the JSON that the API returns; SQL never reads its
// fields.
//
// All SQL on records is in this package, in one text for SQLite and PostgreSQL.
// Every key starts with the workspace, and every statement on tenant data
// filters by the workspace. The packages sqlite and postgres implement Engine
// and contain the differences. The package storetest tests what both must do
// alike.
package store
