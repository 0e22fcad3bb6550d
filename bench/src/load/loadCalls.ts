import type { LatencySummary, LoadResult } from './loadResult.ts';
import type { LoadSource } from './loadSource.ts';
import type { FeedRun } from './runFeed.ts';
import type { FillRun } from './runFill.ts';
import type { LivesRun } from './runLives.ts';
import type { RaceResult, RaceRun } from './runRace.ts';

/** Prepared calls to send to one server. */
export interface ReplayRun {
  readonly batchId: number;
  readonly port: number;
  readonly connections: number;
  readonly expectedStatus: number;
  /** Whether `requestIds` of the result are wanted: they are read from the answers. */
  readonly keepRequestIds: boolean;
}

/** What the load process can be asked. */
export type LoadCalls = {
  /** Prepares calls and keeps them; gives the batch's id. */
  prepare: { params: LoadSource; result: number };
  /** Sends a batch, which is kept. */
  replay: { params: ReplayRun; result: LoadResult };
  release: { params: number; result: undefined };
  lives: { params: LivesRun; result: LoadResult };
  feed: { params: FeedRun; result: LatencySummary };
  race: { params: RaceRun; result: RaceResult };
  fill: { params: FillRun; result: LoadResult };
};
