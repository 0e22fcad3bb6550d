/** Calls one version of the function with an event, and returns what it answers, parsed. */
export type Invoke = (event: unknown) => Promise<unknown>;

interface InvokeFetchOptions {
  readonly invoke: Invoke;
  /** The secret that the edge sends; undefined: there is no edge. */
  readonly originSecret?: string | undefined;
}

interface FunctionAnswer {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
}

function isAnswer(value: unknown): value is FunctionAnswer {
  return typeof value === 'object' && value !== null && 'statusCode' in value && typeof value.statusCode === 'number';
}

/**
 * Makes a `fetch` that hands calls to a function itself, as an HTTP API would: a version that no client reaches yet can be
 * called by any client of the gateway.
 *
 * @throws Error from each call that is no text, or whose answer API Gateway would not take
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
 */
export function createInvokeFetch({ invoke, originSecret }: InvokeFetchOptions): typeof globalThis.fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const { pathname, search } = new URL(request.url);
    const edge = originSecret === undefined ? {} : { 'x-origin-secret': originSecret };
    const answer = await invoke({
      version: '2.0',
      routeKey: '$default',
      rawPath: pathname,
      rawQueryString: search.slice(1),
      headers: { ...Object.fromEntries(request.headers), ...edge },
      requestContext: {
        domainName: 'pre-traffic.invalid',
        stage: '$default',
        http: { method: request.method, path: pathname, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: '' },
      },
      body: await request.text(),
      isBase64Encoded: false,
    });
    if (!isAnswer(answer)) throw new Error('The function answered with something that is no HTTP answer.');
    const { statusCode, headers = {}, body = '', isBase64Encoded = false } = answer;
    const mayHaveBody = statusCode !== 204 && statusCode !== 304;
    return new Response(mayHaveBody ? Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8') : null, {
      status: statusCode,
      headers,
    });
  };
}
