import { type Deployment, decodePath, type HttpCall, splitTarget } from './httpCall.ts';
import { writeBody } from './writeBody.ts';

/** Names in lower case, repeated ones joined; cookies are apart. */
function joinHeaders(headers: HttpCall['headers']): Record<string, string> {
  const joined: Record<string, string> = {};
  for (const [given, value] of headers) {
    const name = given.toLowerCase();
    const before = joined[name];
    if (name !== 'cookie') joined[name] = before === undefined ? value : `${before},${value}`;
  }
  return joined;
}

/**
 * Writes the event that an HTTP API, or a function URL, makes of a call: payload format 2.0.
 *
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
 */
export function httpApiEvent(call: HttpCall, deployment: Deployment): Record<string, unknown> {
  const { stage, basePath, domainName, decodesPath } = deployment;
  const { path, query } = splitTarget(call.target);
  const prefix = `${basePath}${stage === '$default' ? '' : `/${stage}`}`;
  const rawPath = prefix + (decodesPath ? decodePath(path) : path);
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath,
    rawQueryString: query,
    headers: { ...joinHeaders(call.headers), 'x-forwarded-proto': 'https', 'x-forwarded-port': '443' },
    requestContext: {
      accountId: '123456789012',
      apiId: 'a1b2c3d4e5',
      domainName,
      domainPrefix: domainName.split('.')[0],
      http: { method: call.method, path: rawPath, protocol: 'HTTP/1.1', sourceIp: call.peerAddress, userAgent: '' },
      requestId: 'JKJaXmPLvHcESHA=',
      routeKey: '$default',
      stage,
      time: '10/Mar/2026:05:16:23 +0000',
      timeEpoch: 1_773_119_783_000,
    },
    ...writeBody(call),
  };
}
