/** Write units that one partition of DynamoDB takes a second. @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html */
export const PARTITION_WRITES_A_SECOND = 1000;

/** One partition of an index: what the table has taken and the index has not yet written waits. */
export interface Partition {
  /** Whether writes to the table are refused for its sake. */
  readonly isFull: boolean;
  /** Takes one more write into the queue. */
  take(): void;
  /** Lets time pass. */
  advance(seconds: number): void;
  /** How late the index is here, in seconds. */
  readonly lagSeconds: number;
}

/**
 * Models a partition of an index: its writes follow the table's in a queue, and when the queue is too long the table's writes are
 * throttled ("back pressure").
 *
 * @param maxLagSeconds length of the queue from which writes are refused
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/gsi-throttling.html
 */
export function createPartition(maxLagSeconds: number): Partition {
  let waiting = 0;
  return {
    get isFull() {
      return waiting >= maxLagSeconds * PARTITION_WRITES_A_SECOND;
    },
    take() {
      waiting++;
    },
    advance(seconds) {
      waiting = Math.max(0, waiting - seconds * PARTITION_WRITES_A_SECOND);
    },
    get lagSeconds() {
      return waiting / PARTITION_WRITES_A_SECOND;
    },
  };
}
