/** One HTTP call as it stands on the wire, before a gateway in front of a function takes it apart. */
export interface HttpCall {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  /** In the order and letter case they were sent in; a name may come twice. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array;
  /** Address of the caller. */
  readonly peerAddress: string;
}

/** Where a function's gateway is found. */
export interface Deployment {
  /** The API's stage, `$default` for none. */
  readonly stage: string;
  /** Base path of the custom domain's mapping, with its slash; empty: the API's own domain. */
  readonly basePath: string;
  readonly domainName: string;
  /** Whether the gateway decodes the path on its way. */
  readonly decodesPath?: boolean;
}

/** Splits a target at its question mark. */
export function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const mark = target.indexOf('?');
  return mark === -1 ? { path: target, query: '' } : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}

/** Decodes a path as far as it can be decoded. */
export function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
