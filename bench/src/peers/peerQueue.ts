/** A job queue as the bench sees it: jobs are added one by one, and each is run and marked done by the queue's own worker. */
export interface PeerQueue {
  /** Adds one empty job; gives its id once it is stored. */
  add(): Promise<string>;
  /** @param listener gets the id of each job that was run and marked done */
  onDone(listener: (jobId: string) => void): void;
  close(): Promise<void>;
}

/** How a peer is run. */
export interface PeerRun {
  /** Jobs that the worker runs at once; also the connections to the database, where there is a pool. */
  readonly concurrency: number;
  /** Calls of `add` under way at once. */
  readonly lanes: number;
  /**
   * `lives`: a lane waits until its job is done before it adds the next, as one of our connections does.
   * `backlog`: a lane adds one after another, and jobs may pile up.
   */
  readonly mode: 'lives' | 'backlog';
  readonly count: number;
}

/** What a peer's process can be asked. */
export type PeerCalls = {
  /** Starts a worker, warms it up, adds and runs `count` jobs, stops; gives jobs done a second. */
  run: { params: PeerRun; result: number };
};
