/** An answer that the proxy makes up itself. */
export interface FaultAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How a service says that it refuses a call. */
export type FaultAnswers = Readonly<Record<'throttle' | 'serverError' | 'unavailable', FaultAnswer>>;

const dynamoAnswer = (status: number, type: string): FaultAnswer => ({
  status,
  headers: { 'content-type': 'application/x-amz-json-1.0' },
  body: JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: 'a fault made on purpose' }),
});

const s3Answer = (status: number, code: string): FaultAnswer => ({
  status,
  headers: { 'content-type': 'application/xml' },
  body: `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>A fault made on purpose</Message></Error>`,
});

const httpAnswer = (status: number, headers: Record<string, string> = {}): FaultAnswer => ({
  status,
  headers: { 'content-type': 'text/plain', ...headers },
  body: 'a fault made on purpose',
});

/**
 * Refusals in the words of the services that the gateway depends on.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
 */
export const FAULT_ANSWERS = {
  dynamodb: {
    throttle: dynamoAnswer(400, 'ProvisionedThroughputExceededException'),
    serverError: dynamoAnswer(500, 'InternalServerError'),
    unavailable: dynamoAnswer(503, 'ServiceUnavailable'),
  },
  s3: {
    throttle: s3Answer(503, 'SlowDown'),
    serverError: s3Answer(500, 'InternalError'),
    unavailable: s3Answer(503, 'ServiceUnavailable'),
  },
  http: {
    throttle: httpAnswer(429, { 'retry-after': '1' }),
    serverError: httpAnswer(500),
    unavailable: httpAnswer(503),
  },
} as const satisfies Record<string, FaultAnswers>;
