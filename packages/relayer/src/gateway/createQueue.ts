import { isGatewayError } from '@prism-gateway/sdk';
import { createFeedQueue, type FeedQueuePorts } from './createFeedQueue.ts';
import { createListedQueue, type ListedQueuePorts } from './createListedQueue.ts';
import { isAbsent } from './createQueueCalls.ts';
import type { PendingQueue } from './pendingQueue.ts';

/**
 * Makes the queue of a chain: it follows the gateway's feed, or lists what is pending where the gateway knows the specification
 * alone, which is told once. The gateway is asked at the first look.
 */
export function createQueue(ports: FeedQueuePorts & ListedQueuePorts): PendingQueue {
  let queue: PendingQueue | undefined;
  async function open(): Promise<PendingQueue> {
    try {
      const first = await ports.calls.feed({ from: 'now', wait: 0 });
      ports.notes.log.info({}, 'following the feed');
      return createFeedQueue(ports, first);
    } catch (error) {
      // Where there is no feed, its name is taken for a request's id, which it is not.
      if (!isAbsent(error) && !isGatewayError(error, 'VALIDATION_FAILED')) throw error;
      ports.notes.log.info({}, 'the gateway has no feed: its list of pending requests is read instead');
      return createListedQueue(ports);
    }
  }
  return {
    async look(wanted) {
      queue ??= await open();
      return await queue.look(wanted);
    },
    dropClaimed: async (claimable) => (await queue?.dropClaimed(claimable)) ?? claimable,
    news: async () => await queue?.news(),
    hasMore: () => queue?.hasMore() ?? false,
  };
}
