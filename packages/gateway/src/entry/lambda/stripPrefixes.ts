/** A path, and what stood before it. */
export interface StrippedPath {
  readonly path: string;
  /** The path's prefix in the function's address, like `/prod` or `/v1`; often nothing. */
  readonly prefix: string;
}

function strip({ path, prefix }: StrippedPath, segment: string): StrippedPath {
  if (segment === '' || (path !== segment && !path.startsWith(`${segment}/`))) return { path, prefix };
  return { path: path.slice(segment.length) || '/', prefix: prefix + segment };
}

/**
 * Takes base path and stage off a path, each once and only if it stands first. API Gateway leaves them in, or not, by kind of
 * API, by kind of domain and by mapping.
 *
 * @param path - as the event has it
 * @param before - `basePath`: with its slash, or nothing; `stage`: name of the API's stage, `$default` for none
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/how-to-custom-domains.html
 */
export function stripPrefixes(
  path: string,
  before: { readonly basePath: string; readonly stage: string },
): StrippedPath {
  const stage = before.stage === '$default' || before.stage === '' ? '' : `/${before.stage}`;
  return strip(strip({ path, prefix: '' }, before.basePath), stage);
}
