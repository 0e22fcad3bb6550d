/** Delivers webhooks as functions of AWS Lambda; built by `npx prism build:lambda`. */

import { createLogger } from '@prism-gateway/node/logs';
import type { StreamRecord } from '../drivers/dynamodb/recordStats.ts';
import { describeCause } from '../http/describeCause.ts';
import type { Logger } from '../ports/logger.ts';
import type { FunctionContext } from './lambda/createHandler.ts';
import { createInvocation, type Invocation } from './lambda/createInvocation.ts';
import { parseWebhooksSettings } from './lambda/webhooksSettings.ts';
import { type WiredWebhooks, wireWebhooks } from './lambda/wireWebhooks.ts';

const invocation = createInvocation();
const fields = () => ({ awsRequestId: invocation.awsRequestId });
const write = (line: string) => void process.stdout.write(line);
const settings = parseWebhooksSettings(process.env);
const logger = createLogger({ write, now: Date.now, fields, level: settings.LOG_LEVEL });

export const handler = createWebhooksHandler({
  ...wireWebhooks({ settings, environment: process.env, logger }),
  ...{ logger, invocation },
});

interface HandlerContext extends WiredWebhooks {
  readonly logger: Logger;
  readonly invocation: Invocation;
}

/** A message of a queue, or a record of a stream. */
interface EventRecord extends StreamRecord {
  readonly eventSource?: string;
  readonly messageId?: string;
  readonly body?: string;
}

/** The messages that are to come again. @see https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html */
interface BatchResult {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}

/** Milliseconds left of the time limit when the last batch begins: an attempt takes ten seconds at most. */
const MARGIN_MS = 15_000;

function recordsOf(event: unknown): readonly EventRecord[] {
  const records = typeof event === 'object' && event !== null && 'Records' in event ? event.Records : [];
  return Array.isArray(records) ? records : [];
}

/**
 * Makes the handler of the functions that deliver webhooks: one takes the stream of the requests' table, the other messages of the queue,
 * and once a minute looks after all.
 */
function createWebhooksHandler({ record, deliver, logger, invocation }: HandlerContext) {
  async function deliverAll(messages: readonly EventRecord[], until: number): Promise<BatchResult> {
    // Several messages of one webhook are one look at it.
    const ofWebhooks = [...Map.groupBy(messages, ({ body = '' }) => body)];
    const failures = await Promise.all(
      ofWebhooks.map(async ([webhookId, same]) => {
        try {
          await deliver(webhookId, until);
          return [];
        } catch (error) {
          logger.error(
            { code: 'WEBHOOK_NOT_SERVED', webhookId, cause: describeCause(error) },
            'a webhook is looked at again',
          );
          return same.map(({ messageId = '' }) => ({ itemIdentifier: messageId }));
        }
      }),
    );
    return { batchItemFailures: failures.flat() };
  }

  return async function handler(event: unknown, context: FunctionContext): Promise<BatchResult> {
    invocation.awsRequestId = context.awsRequestId;
    const until = Date.now() + context.getRemainingTimeInMillis() - MARGIN_MS;
    const records = recordsOf(event);
    if (records[0]?.eventSource === 'aws:sqs') return await deliverAll(records, until);
    // A failure here fails the whole batch, which comes again.
    if (records[0]?.eventSource === 'aws:dynamodb') await record(records);
    else await deliver(undefined, until);
    return { batchItemFailures: [] };
  };
}
