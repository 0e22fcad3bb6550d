import { type Awaitable, andThen } from '../ports/awaitable.ts';
import type { GatewayPorts } from '../ports/gatewayPorts.ts';
import type { Answer } from './answer.ts';
import { answerError, toApiError } from './errorAnswer.ts';
import type { ApiError } from './errors.ts';
import { API_HEADERS, BODILESS_HEADERS } from './headers.ts';

/** What is known of an HTTP request before it is routed, and what its answer will need. */
export interface Exchange {
  /** Value of `X-Request-Id`. */
  readonly id: string;
  readonly method: string;
  /** Path template, or `unmatched`; the log's and the metrics' name of the route. */
  readonly route: string;
  readonly peer: string;
  /** `performance.now()` when it arrived. */
  readonly startedAt: number;
  /** `RateLimit` headers, once a limit has counted it. */
  limitHeaders: Readonly<Record<string, string>> | undefined;
}

type RespondPorts = Pick<GatewayPorts, 'metrics' | 'logger'>;

const MS_PER_SECOND = 1000;

function logError(ports: RespondPorts, exchange: Exchange, error: ApiError): void {
  const { cause } = error;
  const facts =
    cause instanceof Error
      ? { name: cause.name, message: cause.message, stack: cause.stack }
      : { message: String(cause) };
  ports.logger.error(
    { requestId: exchange.id, route: exchange.route, code: error.code, cause: facts },
    'request failed',
  );
}

/** Counts and logs an answered request. */
export function recordAnswer(ports: RespondPorts, exchange: Exchange, status: number): void {
  const { id: requestId, method, route, peer } = exchange;
  const ms = performance.now() - exchange.startedAt;
  ports.metrics.answered({ method, route, status, seconds: ms / MS_PER_SECOND });
  ports.logger.info({ requestId, method, route, status, ms: Math.round(ms * 100) / 100, peer }, 'request');
}

/**
 * Runs a handler and writes its answer, or the error it threw, as a response with the headers that every answer carries.
 *
 * @param act - the handler; whatever it throws becomes `{ error, details? }`
 */
export function respond(
  ports: RespondPorts,
  exchange: Exchange,
  act: (exchange: Exchange) => Awaitable<Answer>,
): Awaitable<Response> {
  const refuse = (thrown: unknown): Answer => {
    const error = toApiError(thrown);
    if (error.status >= 500) logError(ports, exchange, error);
    return answerError(error);
  };
  let answer: Awaitable<Answer>;
  try {
    answer = act(exchange);
  } catch (thrown) {
    answer = refuse(thrown);
  }
  const settled = answer instanceof Promise ? answer.catch(refuse) : answer;
  return andThen(settled, (known) => writeAnswer(ports, exchange, known));
}

function writeAnswer(ports: RespondPorts, exchange: Exchange, answer: Answer): Response {
  recordAnswer(ports, exchange, answer.status);
  const base = answer.body === null ? BODILESS_HEADERS : API_HEADERS;
  const headers = { ...base, 'x-request-id': exchange.id, ...exchange.limitHeaders, ...answer.headers };
  return new Response(answer.body, { status: answer.status, headers });
}
