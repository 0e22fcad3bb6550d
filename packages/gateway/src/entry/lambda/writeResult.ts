/** The answer that API Gateway and function URLs take, in both versions of the format. */
export interface HttpResult {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly isBase64Encoded: boolean;
}

const textual = /^(?:text\/|application\/(?:[a-z0-9.+-]*\+)?json\b)/i;

/** Writes an answer for API Gateway: text as it is, anything else, and what is compressed, as base64. */
export async function writeResult(response: Response): Promise<HttpResult> {
  const { headers } = response;
  const isText = !headers.has('content-encoding') && textual.test(headers.get('content-type') ?? 'text/');
  return {
    statusCode: response.status,
    headers: Object.fromEntries(headers),
    body: isText ? await response.text() : Buffer.from(await response.bytes()).toString('base64'),
    isBase64Encoded: !isText,
  };
}
