import { MAX_WEBHOOKS } from '../ports/webhookStore.ts';
import { ApiError } from './errors.ts';

export const webhookNotFound = (webhookId: string) =>
  new ApiError({ code: 'WEBHOOK_NOT_FOUND', status: 404, message: `There is no webhook ${webhookId}.` });

export const deliveryNotFound = (deliveryId: string) =>
  new ApiError({
    code: 'DELIVERY_NOT_FOUND',
    status: 404,
    message: `There is no delivery ${deliveryId} of this webhook; ended ones are kept up to a number.`,
  });

export const webhooksFull = () =>
  new ApiError({
    code: 'WEBHOOKS_FULL',
    status: 409,
    message: `There are ${MAX_WEBHOOKS} webhooks already, the most there may be; remove one first.`,
  });

export const webhooksUndelivered = () =>
  new ApiError({
    code: 'WEBHOOKS_UNDELIVERED',
    status: 409,
    message:
      'Nothing here would deliver: the requests’ table has no stream that this server may read. Turn it on with new and old images, and allow DescribeTable, DescribeStream, GetShardIterator and GetRecords.',
  });

export const deliveryWaits = () =>
  new ApiError({
    code: 'DELIVERY_WAITING',
    status: 409,
    message: 'The delivery waits to be sent already; only one that was delivered or given up is sent again.',
  });
