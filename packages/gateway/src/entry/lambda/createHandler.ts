import type { ErrorBody } from '@prism-gateway/protocol';
import type { Gateway } from '../../app.ts';
import { describeCause } from '../../http/describeCause.ts';
import { API_HEADERS } from '../../http/response.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Invocation } from './createInvocation.ts';
import type { OriginGuard } from './createOriginGuard.ts';
import { createRequest } from './lightFetch.ts';
import { type EventCall, readEvent } from './readEvent.ts';
import { type HttpResult, writeResult } from './writeResult.ts';

/** The part of Lambda's context that is used. @see https://docs.aws.amazon.com/lambda/latest/dg/nodejs-context.html */
export interface FunctionContext {
  readonly awsRequestId: string;
  /** Milliseconds until Lambda ends the call. */
  getRemainingTimeInMillis(): number;
}

/** The result for an event that is no HTTP call. */
export interface OtherResult {
  readonly handled: 'measured' | 'failed' | 'ignored';
}

interface HandlerContext {
  readonly gateway: Gateway;
  readonly logger: Logger;
  /** Base path of a custom domain's mapping, with its slash; empty: none. */
  readonly basePath: string;
  /** Refuses calls that did not come by the edge, if there is one, and knows whose the others are. */
  readonly guardOrigin: OriginGuard;
  /** The call that this instance is answering. */
  readonly invocation: Invocation;
  /** Writes the queue's figures for CloudWatch. */
  readonly measureQueue: () => Promise<void>;
}

/** Milliseconds left of the time limit when the function answers for a dependency that does not. */
const MARGIN_MS = 2000;

const lateResult: HttpResult = {
  statusCode: 503,
  headers: { ...API_HEADERS, 'retry-after': '1' },
  body: JSON.stringify({
    error: 'The service did not answer in time; whether anything has changed is not known. Try again.',
    code: 'DEPENDENCY_UNAVAILABLE',
  } satisfies ErrorBody),
  isBase64Encoded: false,
};

/** Events of EventBridge's rules that run on a schedule say so. */
function isSchedule(event: unknown): boolean {
  return typeof event === 'object' && event !== null && 'source' in event && event.source === 'aws.events';
}

/**
 * Waits for an answer, but not up to the end of the time limit: past that, Lambda's own answer would come, without CORS and
 * without a word of what to do. It is the last resort; the drivers give up much earlier.
 */
async function answerInTime(answer: Promise<HttpResult>, limitMs: number, logger: Logger): Promise<HttpResult> {
  const late = Promise.withResolvers<HttpResult>();
  const timer = setTimeout(() => {
    logger.error({ code: 'DEADLINE', limitMs }, 'answered for a dependency that did not');
    late.resolve(lateResult);
  }, limitMs);
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Makes the function's handler: one for HTTP APIs, REST APIs and function URLs. EventBridge's scheduled events make it measure the
 * queue; any other event, like a ping that keeps an instance warm, is answered that it was ignored.
 */
export function createHandler(context: HandlerContext) {
  const { gateway, logger, basePath, guardOrigin, invocation, measureQueue } = context;

  async function answerCall({ peerAddress, body, ...call }: EventCall): Promise<HttpResult> {
    return await writeResult(await gateway.fetch(createRequest(call), { peerAddress, arrivedBody: () => body }));
  }

  /** An outage of the store is no error of the function, and not to be tried again: the next minute measures anew. */
  async function measure(): Promise<OtherResult> {
    try {
      await measureQueue();
      return { handled: 'measured' };
    } catch (error) {
      logger.error({ code: 'QUEUE_NOT_MEASURED', cause: describeCause(error) }, 'the queue could not be measured');
      return { handled: 'failed' };
    }
  }

  return async function handler(event: unknown, functionContext: FunctionContext) {
    invocation.awsRequestId = functionContext.awsRequestId;
    const call = readEvent(event, { basePath });
    if (call !== undefined) {
      const evaluated = guardOrigin(call);
      if ('refusal' in evaluated) return evaluated.refusal;
      invocation.origin = `https://${call.domainName}${call.prefix}`;
      return await answerInTime(
        answerCall({ ...call, ...evaluated }),
        functionContext.getRemainingTimeInMillis() - MARGIN_MS,
        logger,
      );
    }
    if (isSchedule(event)) return await measure();
    logger.info({}, 'ignored an event that is no HTTP call');
    return { handled: 'ignored' } satisfies OtherResult;
  };
}
