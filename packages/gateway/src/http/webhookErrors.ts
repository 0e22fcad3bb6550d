import { MAX_WEBHOOKS } from '../ports/webhookStore.ts';
import { ApiError } from './errors.ts';

export const webhookNotFound = (webhookId: string) =>
  new ApiError({ code: 'WEBHOOK_NOT_FOUND', message: `There is no webhook ${webhookId}.` });

export const deliveryNotFound = (deliveryId: string) =>
  new ApiError({
    code: 'DELIVERY_NOT_FOUND',
    message: `There is no delivery ${deliveryId} of this webhook; ended ones are kept up to a number.`,
  });

export const webhooksFull = () =>
  new ApiError({
    code: 'WEBHOOKS_FULL',
    message: `There are ${MAX_WEBHOOKS} webhooks already, the most there may be; remove one first.`,
  });

export const webhooksUndelivered = () =>
  new ApiError({
    code: 'WEBHOOKS_UNDELIVERED',
    message:
      'Nothing here delivers: with DynamoDB it takes the functions of a deployment with WEBHOOKS=on. A server delivers with SQLite or PostgreSQL.',
  });

export const deliveryWaits = () =>
  new ApiError({
    code: 'DELIVERY_WAITING',
    message: 'The delivery waits to be sent already; only one that was delivered or given up is sent again.',
  });
