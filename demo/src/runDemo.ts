import { checkWorld, type Findings } from './check/checkWorld.ts';
import { formatActions, formatChecks, formatEarnings, formatRequests, formatWriteGas } from './formatReport.ts';
import { formatCredits, formatSeconds } from './formats.ts';
import type { DemoOptions } from './options.ts';
import { playLiar } from './playLiar.ts';
import { playRequests } from './playRequests.ts';
import { type DemoWorld, startDemoWorld, WORLD } from './startDemoWorld.ts';

/** Options of a run. */
export interface RunOptions {
  readonly options: DemoOptions;
  /** Takes each line of the output. */
  readonly print: (line: string) => void;
  /** Folder for data and logs. */
  readonly dir: string;
  /** Aborted by Ctrl-C. */
  readonly interrupted: AbortSignal;
}

function showFindings(
  print: RunOptions['print'],
  { executions, earnings, treasury, checks }: Findings,
  options: DemoOptions,
): void {
  const parts = [
    ...(options.verbose ? [formatRequests(executions)] : []),
    formatActions(executions),
    [formatWriteGas(executions)],
    formatEarnings(earnings, treasury),
    formatChecks(checks),
  ];
  for (const lines of parts) for (const line of ['', ...lines]) print(line);
}

/** Writes what can be played with while the demo is left running. */
function describeWorld({ world, users, relayers }: DemoWorld): readonly string[] {
  const { gateway, deployment, dir } = world;
  const { rpcUrl } = world.devnet;
  const contracts = (['forwarder', 'cloud', 'core', 'creditToken', 'exchange', 'stablecoin', 'treasury'] as const).map(
    (name) => `  ${name.padEnd(14)}${deployment[name]}`,
  );
  return [
    `RPC           ${rpcUrl} (chain id ${deployment.chainId}; requests name it ${WORLD.chainName})`,
    `gateway       ${gateway.url} (API reference: ${gateway.url}/docs)`,
    `admin key     ${gateway.adminKey}`,
    `logs, data    ${dir}`,
    'contracts',
    ...contracts,
    'relayers, both at work',
    ...[relayers.official, relayers.other].map(({ name, account }) => `  ${name.padEnd(14)}${account.address}`),
    'users; the keys were made for this run',
    ...users.map(({ name, account, privateKey }) => `  ${name.padEnd(14)}${account.address}  ${privateKey}`),
    '',
    'Requests of the first user, newest first:',
    `  curl -s '${gateway.url}/requests?signer=${users[0]?.account.address}&order=desc&limit=3'`,
    'Credits of the treasury, in base units:',
    `  curl -s ${rpcUrl} -H 'Content-Type: application/json' -d '${JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_call',
      // balanceOf(address)
      params: [
        { to: deployment.creditToken, data: `0x70a08231${deployment.treasury.slice(2).padStart(64, '0')}` },
        'latest',
      ],
    })}'`,
  ];
}

/** Shows what there is to play with, and waits for Ctrl-C, or for a process that ends by itself. */
async function keepRunning(demo: DemoWorld, { print, interrupted }: RunOptions, failed: AbortSignal): Promise<void> {
  for (const line of ['', ...describeWorld(demo), '', 'Left running: Ctrl-C stops it all.']) print(line);
  const either = AbortSignal.any([interrupted, failed]);
  if (!either.aborted) await new Promise((resolve) => either.addEventListener('abort', resolve, { once: true }));
  failed.throwIfAborted();
  print('Stopping.');
}

type PrepareOptions = Parameters<typeof startDemoWorld>[1] & Pick<RunOptions, 'print'>;

/** Starts the chain, the gateway and its parties, and says where they are. */
async function prepare(stack: AsyncDisposableStack, { print, ...options }: PrepareOptions): Promise<DemoWorld> {
  const demo = await startDemoWorld(stack, options);
  const { devnet, deployment, gateway } = demo.world;
  const credits = formatCredits(WORLD.creditsPerUser);
  print(`chain      ${devnet.rpcUrl} (Anvil), six contracts deployed; Forwarder ${deployment.forwarder}`);
  print(`users      ${demo.users.length}, each with ${credits} credits and no ether`);
  print(`gateway    ${gateway.url}, relayers A, B and C and a watchtower on its whitelist`);
  return demo;
}

/**
 * Plays the whole demo, and stops everything that it has started.
 *
 * @param run - see each field
 * @returns whether everything is as it must be
 * @throws DemoError, GatewayError, AnvilStartError, DeploymentError; the reason of `interrupted`
 */
export async function runDemo(run: RunOptions): Promise<boolean> {
  const { options, print, dir, interrupted } = run;
  const startedAt = performance.now();
  const failure = new AbortController();
  const signal = AbortSignal.any([interrupted, failure.signal]);
  const onUnexpectedEnd = (error: Error) => failure.abort(error);
  const stack = new AsyncDisposableStack();
  try {
    const demo = await prepare(stack, { users: options.users, dir, onUnexpectedEnd, signal, print });
    const played = await playRequests({ demo, options, print, signal });
    const honest = await checkWorld(demo, played);
    const lies = await playLiar({ demo, expected: played.plan.expected, print, signal });
    const findings = { ...honest, checks: [...honest.checks, ...lies] };
    showFindings(print, findings, options);
    const isGood = findings.checks.every(({ isTrue }) => isTrue);
    const verdict = isGood ? 'Everything is as it must be' : 'NOT everything is as it must be';
    for (const line of ['', `${verdict}; ${formatSeconds(performance.now() - startedAt)} in all.`]) print(line);
    if (options.keep) await keepRunning(demo, run, failure.signal);
    return isGood;
  } catch (error) {
    // Everything else under way ends, too; and if a process has ended by itself, that is the reason, whatever it has led to.
    failure.abort(error);
    throw failure.signal.reason;
  } finally {
    await stack.disposeAsync();
  }
}
