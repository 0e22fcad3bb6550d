/** Names of the stores, as the settings give them. */
export interface TableNames {
  readonly requests: string;
  readonly relayers: string;
  readonly rateLimits: string;
}

/** The same names, quoted for SQL, with those of the tables that belong to them. */
export interface QuotedTables extends TableNames {
  /** The params, apart from the records, so that a claim does not rewrite them. */
  readonly params: string;
  /** Records by status. */
  readonly counts: string;
}

/** Quotes an identifier. */
export const quoteName = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** Derives and quotes all table names. */
export function quoteTables({ requests, relayers, rateLimits }: TableNames): QuotedTables {
  return {
    requests: quoteName(requests),
    params: quoteName(`${requests}.params`),
    counts: quoteName(`${requests}.counts`),
    relayers: quoteName(relayers),
    rateLimits: quoteName(rateLimits),
  };
}
