import { setTimeout as pause } from 'node:timers/promises';
import { type Environment, signedPost } from './signedPost.ts';

/** For one try, in milliseconds; the queue answers in ten. */
const TIMEOUT_MS = 2000;
const MAX_TRIES = 3;
const PAUSE_MS = 100;
const OK = 200;
/** Longest delay of one message, in seconds. @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-delay-queues.html */
export const MAX_DELAY_SECONDS = 900;

/** The queue takes no message. */
export class QueueUnavailableError extends Error {
  override readonly name = 'QueueUnavailableError';
  readonly code = 'QUEUE_UNAVAILABLE';
}

/** Sends a message to a queue, which hands it on after some seconds. @throws QueueUnavailableError */
export type QueueSender = (message: { readonly body: string; readonly delaySeconds: number }) => Promise<void>;

/**
 * Makes a sender for a queue of SQS, by one signed call each.
 *
 * @param queueUrl - as SQS gives it; calls go to it, or to `AWS_ENDPOINT_URL_SQS`
 * @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
 */
export function createQueueSender(queueUrl: string, environment: Environment): QueueSender {
  const endpoint = new URL('/', environment.AWS_ENDPOINT_URL_SQS || queueUrl);
  const call = {
    ...{ service: 'sqs', region: environment.AWS_REGION ?? '', endpoint, target: 'AmazonSQS.SendMessage' },
    ...({ contentType: 'application/x-amz-json-1.0', timeoutMs: TIMEOUT_MS } as const),
  };

  async function trySend(body: string): Promise<string | undefined> {
    try {
      const { status, text } = await signedPost({ ...call, body }, environment);
      return status === OK ? undefined : `${status} ${text.slice(0, 200)}`;
    } catch (error) {
      return String(error);
    }
  }

  return async function send({ body: MessageBody, delaySeconds }) {
    const DelaySeconds = Math.min(MAX_DELAY_SECONDS, Math.max(0, delaySeconds));
    const body = JSON.stringify({ QueueUrl: queueUrl, MessageBody, DelaySeconds });
    let fault: string | undefined;
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      fault = await trySend(body);
      if (fault === undefined) return;
      if (tries < MAX_TRIES) await pause(PAUSE_MS * tries);
    }
    throw new QueueUnavailableError(`The queue took no message: ${fault}`);
  };
}
