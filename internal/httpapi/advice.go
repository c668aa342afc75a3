package httpapi

// paramAliases maps parameter names that other APIs use to the names in this API.
var paramAliases = map[string]string{
	"page": "cursor", "offset": "cursor", "skip": "cursor", "after": "cursor", "starting_after": "cursor", "page_token": "cursor", "next_cursor": "cursor",
	"per_page": "limit", "page_size": "limit", "size": "limit", "count": "limit", "max_results": "limit",
	"sort_by": "sort", "order_by": "sort", "direction": "order", "sort_order": "order",
	"from": "start_date", "since": "start_date", "created_after": "start_date", "to": "end_date", "until": "end_date", "created_before": "end_date",
	"search": "q", "query": "q",
}

// paramUsage explains how to use a parameter whose name does not explain it.
var paramUsage = map[string]string{"cursor": " with the next_cursor of the page before"}
