import { type Deployment, decodePath, type HttpCall, splitTarget } from './httpCall.ts';
import { writeBody } from './writeBody.ts';

type Lists = Record<string, string[]>;

function gather(pairs: Iterable<readonly [string, string]>): Lists | null {
  const lists: Lists = {};
  for (const [name, value] of pairs) {
    const list = lists[name] ?? [];
    list.push(value);
    lists[name] = list;
  }
  return Object.keys(lists).length === 0 ? null : lists;
}

/** The last value of each name. */
function lastOf(lists: Lists | null): Record<string, string> | null {
  if (lists === null) return null;
  return Object.fromEntries(Object.entries(lists).map(([name, values]) => [name, values.at(-1) ?? '']));
}

/**
 * Writes the event that a REST API makes of a call: payload format 1.0, with the query taken apart and decoded.
 *
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
 */
export function restApiEvent(call: HttpCall, deployment: Deployment): Record<string, unknown> {
  const { stage, basePath, domainName, decodesPath } = deployment;
  const { path: sentPath, query } = splitTarget(call.target);
  const ownPath = decodesPath ? decodePath(sentPath) : sentPath;
  // On the API's own domain the stage is taken off; a custom domain's base path is left on.
  const path = basePath + ownPath;
  const contextPath = basePath === '' ? `/${stage}${ownPath}` : path;
  const multiValueHeaders = gather(call.headers);
  const multiValueQueryStringParameters = gather(new URLSearchParams(query));
  return {
    resource: '/{proxy+}',
    path,
    httpMethod: call.method,
    headers: lastOf(multiValueHeaders),
    multiValueHeaders,
    queryStringParameters: lastOf(multiValueQueryStringParameters),
    multiValueQueryStringParameters,
    pathParameters: { proxy: ownPath.slice(1) },
    stageVariables: null,
    requestContext: {
      accountId: '123456789012',
      apiId: 'a1b2c3d4e5',
      domainName,
      domainPrefix: domainName.split('.')[0],
      httpMethod: call.method,
      identity: { sourceIp: call.peerAddress, userAgent: '' },
      path: contextPath,
      protocol: 'HTTP/1.1',
      requestId: 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef',
      resourcePath: '/{proxy+}',
      stage,
    },
    body: null,
    ...writeBody(call),
  };
}
