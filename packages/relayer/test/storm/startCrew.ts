import { setTimeout as pause } from 'node:timers/promises';
import { type RelayerEnv, type RelayerProcess, startRelayerProcess } from '@prism-gateway/testing/relay';

/** Some relayers that are killed and started again. */
export interface Crew extends AsyncDisposable {
  readonly size: number;
  /** Kills one by SIGKILL that has requests in flight, or the given one where none has any soon; starts it again with the same settings. */
  crash(fallback: number): Promise<void>;
  readonly crashes: number;
  /** Stops all by SIGTERM. @returns their exit codes */
  stop(): Promise<readonly (number | null)[]>;
  /** All that one relayer has printed, over all its lives. */
  output(index: number): readonly string[];
}

/** How often relayers are asked whether they are busy, and how often in all. */
const ASK_INTERVAL_MS = 5;
const MAX_ASKS = 100;

/** Looks for a relayer that has claimed something and not yet reported it, beginning with another one each time. */
async function findBusy(members: readonly RelayerProcess[]): Promise<number | undefined> {
  for (let ask = 0; ask < MAX_ASKS; ask += 1) {
    const index = ask % members.length;
    if (((await members[index]?.readMetric('prism_relayer_in_flight')) ?? 0) > 0) return index;
    await pause(ASK_INTERVAL_MS);
  }
  return undefined;
}

/**
 * Starts relayers.
 *
 * @param envs - the settings of each
 */
export async function startCrew(envs: readonly RelayerEnv[]): Promise<Crew> {
  const printed: string[][] = envs.map(() => []);
  const members: RelayerProcess[] = await Promise.all(envs.map((env) => startRelayerProcess(env)));
  let crashes = 0;
  const endAll = () => Promise.all(members.map((member) => member.kill()));
  return {
    size: envs.length,
    get crashes() {
      return crashes;
    },
    async crash(fallback) {
      const index = (await findBusy(members)) ?? fallback;
      // Indexes are those of `envs`.
      const [member, env] = [members[index]!, envs[index]!];
      await member.kill();
      printed[index]?.push(...member.output);
      members[index] = await startRelayerProcess(env);
      crashes += 1;
    },
    stop: () => Promise.all(members.map((member) => member.stop())),
    output: (index) => [...(printed[index] ?? []), ...(members[index]?.output ?? [])],
    async [Symbol.asyncDispose]() {
      await endAll();
    },
  };
}
