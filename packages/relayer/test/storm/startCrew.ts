import { type RelayerEnv, type RelayerProcess, startRelayerProcess } from '@prism-gateway/testing/relay';

/** Some relayers that are killed and started again. */
export interface Crew extends AsyncDisposable {
  readonly size: number;
  /** Kills one by SIGKILL and starts it again with the same settings. */
  crash(index: number): Promise<void>;
  readonly crashes: number;
  /** Stops all by SIGTERM. @returns their exit codes */
  stop(): Promise<readonly (number | null)[]>;
  /** All that one relayer has printed, over all its lives. */
  output(index: number): readonly string[];
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
    async crash(index) {
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
