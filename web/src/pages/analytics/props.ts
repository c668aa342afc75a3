import type { Detail } from "../../api/client";
import type { Catalogue } from "../../lib/catalogue";
import type { Query } from "./query";

/** What every part of the query builder gets. */
export interface BuilderProps {
  query: Query;
  onChange: (q: Query) => void;
  catalogue: Catalogue;
  /** What the server finds wrong with the query. */
  details: Detail[];
}
