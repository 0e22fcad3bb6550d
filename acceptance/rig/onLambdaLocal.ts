import {
  DynamoEngineMissingError,
  type LambdaGateway,
  RuntimeClientMissingError,
  startLambdaGateway,
} from '@prism-gateway/testing';

/** Where a function's gateway is found, in the words of the run's arguments. */
export interface LambdaTarget {
  readonly url: string;
  readonly 'admin-key': string;
  readonly token: string[];
}

const MEGABYTE = 1024 * 1024;

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

function describeRun({
  instances,
  slowestInitMs,
  peakBytes,
  durationsMs,
}: ReturnType<LambdaGateway['report']>): string {
  const sorted = durationsMs.toSorted((a, b) => a - b);
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  const [p50, p99] = [percentile(sorted, 0.5), percentile(sorted, 0.99)];
  return `
  The function, under AWS's runtime interface client with 256 MB:
    ${sorted.length} calls by ${instances} instances, one at a time each, frozen in between; ready within ${ms(slowestInitMs)}
    peak memory ${(peakBytes / MEGABYTE).toFixed(1)} MB resident; p50 ${ms(p50)}, p99 ${ms(p99)}
`;
}

/**
 * Runs tests against the built function, as Lambda runs it, on this machine, and prints what it took.
 *
 * @param run - the tests; @returns their exit code
 * @returns the exit code; a sentence where the function cannot run on this machine
 */
export async function onLambdaLocal(run: (target: LambdaTarget) => Promise<number>): Promise<number | string> {
  try {
    const gateway = await startLambdaGateway();
    try {
      const code = await run({ url: gateway.url, 'admin-key': gateway.adminKey, token: [...gateway.tokens] });
      console.log(describeRun(gateway.report()));
      const faults = gateway.output.filter((line) => line.includes('"msg":"request failed"'));
      if (faults.length > 0) console.error(`The function failed inside:\n${faults.join('\n')}`);
      return faults.length > 0 ? 1 : code;
    } finally {
      await gateway.stop();
    }
  } catch (error) {
    if (error instanceof RuntimeClientMissingError || error instanceof DynamoEngineMissingError) return error.message;
    throw error;
  }
}
