import { type StrippedPath, stripPrefixes } from './stripPrefixes.ts';
import { writeTarget } from './writeTarget.ts';

/** One HTTP call, whatever shape its event had. */
export interface EventCall extends StrippedPath {
  readonly method: string;
  /** Absolute URL of no particular host: the path as routed, and the query. */
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array<ArrayBuffer>;
  /** Address of the caller as API Gateway saw it; nobody can forge it. */
  readonly peerAddress: string;
  /** Host name that was called; empty if the event does not say. */
  readonly domainName: string;
}

type Fields = Readonly<Record<string, unknown>>;

interface ReadOptions {
  /** Base path of a custom domain's mapping, with its slash: `/v1`; empty: none. */
  readonly basePath: string;
}

const NONE: Fields = {};
const asFields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? { ...value } : NONE);
const asText = (value: unknown): string => (typeof value === 'string' ? value : '');
const asTexts = (value: unknown): string[] => (Array.isArray(value) ? value.map(asText) : [asText(value)]);

function readBody(event: Fields): Uint8Array<ArrayBuffer> {
  return Buffer.from(asText(event.body), event.isBase64Encoded === true ? 'base64' : 'utf8');
}

/** Pairs of names and values; a value may be a list. */
function readPairs(fields: unknown): (readonly [string, string])[] {
  return Object.entries(asFields(fields)).flatMap(([name, value]) =>
    asTexts(value).map((text) => [name, text] as const),
  );
}

/** The first of two that holds anything: the lists are complete, the single values are the last ones. */
const readEither = (lists: unknown, singles: unknown) => readPairs(lists ?? singles);

/** A lone half of a surrogate pair has no encoding. */
const encode = (text: string) => encodeURIComponent(text.toWellFormed());

/** REST APIs hand the query over decoded, and taken apart. */
function writeQuery(event: Fields): string {
  return readEither(event.multiValueQueryStringParameters, event.queryStringParameters)
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .join('&');
}

const withSlash = (path: string) => (path.startsWith('/') ? path : `/${path}`);

/** Events of HTTP APIs and function URLs. @see https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html */
function readVersion2(event: Fields, { basePath }: ReadOptions): EventCall {
  const context = asFields(event.requestContext);
  const http = asFields(context.http);
  const stripped = stripPrefixes(withSlash(asText(event.rawPath)), { basePath, stage: asText(context.stage) });
  return {
    ...stripped,
    method: asText(http.method),
    url: writeTarget(stripped.path, asText(event.rawQueryString)),
    headers: readPairs(event.headers),
    body: readBody(event),
    peerAddress: asText(http.sourceIp),
    domainName: asText(context.domainName),
  };
}

/** Events of REST APIs, and of HTTP APIs that are set to write them so. */
function readVersion1(event: Fields, { basePath }: ReadOptions): EventCall {
  const context = asFields(event.requestContext);
  const stage = asText(context.stage);
  const path = withSlash(asText(event.path));
  // A REST API has taken its stage off already; whatever looks like one now is the path's own.
  const isStripped = asText(context.path) === `/${stage}${path}`;
  const stripped = isStripped ? { path, prefix: `/${stage}` } : stripPrefixes(path, { basePath, stage });
  return {
    ...stripped,
    method: asText(event.httpMethod),
    url: writeTarget(stripped.path, writeQuery(event)),
    headers: readEither(event.multiValueHeaders, event.headers),
    body: readBody(event),
    peerAddress: asText(asFields(context.identity).sourceIp),
    domainName: asText(context.domainName),
  };
}

/**
 * Reads an event as an HTTP call.
 *
 * @param value - what Lambda hands to the function
 * @returns the call; undefined for any other event
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
 */
export function readEvent(value: unknown, options: ReadOptions): EventCall | undefined {
  const event = asFields(value);
  const { http } = asFields(event.requestContext);
  if (typeof event.rawPath === 'string' && typeof asFields(http).method === 'string')
    return readVersion2(event, options);
  if (typeof event.path === 'string' && typeof event.httpMethod === 'string') return readVersion1(event, options);
  return undefined;
}
