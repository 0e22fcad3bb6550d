import type { PaymentsRig } from '@prism-gateway/payments/demo';
import type { SmokeRow, SmokeWorld } from './rows.ts';
import { type RunningCommand, SmokeError, startCommand } from './startCommand.ts';

interface RowContext {
  /** Path of the repository. */
  readonly root: string;
  /** Empty folder for what the commands keep. */
  readonly dir: string;
  /** Takes a line about each row. */
  readonly tell: (line: string) => void;
}

/** Commands that are kept up, and what they say of themselves. */
interface Kept {
  readonly urls: Map<string, string>;
  readonly stops: { readonly row: SmokeRow; readonly running: RunningCommand }[];
}

/** Longest that a row may take on a loaded machine, in milliseconds: a bound for hangs. The payments' demo takes 7 minutes at load 20. */
const TIMEOUT_MS = 1_200_000;

const nameOf = ({ command }: SmokeRow, args: readonly string[]) => ['npm run', command, ...args].join(' ');

/**
 * Runs rows one after the other, and stops those that were kept up at the end.
 *
 * @param context - where, and who is told
 * @param rows - in their order
 * @returns how many failed
 */
export async function runRows(context: RowContext, rows: readonly SmokeRow[]): Promise<number> {
  // Not `await using`: the parser that checks imports does not know it.
  const stack = new AsyncDisposableStack();
  try {
    return await runWith(context, { rows, stack });
  } finally {
    await stack.disposeAsync();
  }
}

async function runWith(
  context: RowContext,
  { rows, stack }: { readonly rows: readonly SmokeRow[]; readonly stack: AsyncDisposableStack },
): Promise<number> {
  const kept: Kept = { urls: new Map(), stops: [] };
  let rig: Promise<PaymentsRig> | undefined;
  const world: SmokeWorld = {
    dir: context.dir,
    urls: kept.urls,
    payments() {
      rig ??= import('@prism-gateway/payments/demo').then(async ({ startPaymentsRig }) =>
        stack.use(await startPaymentsRig({ blockTimeMs: 200, heartbeatMs: 600_000 })),
      );
      return rig;
    },
  };
  let failures = 0;
  const time = async (name: string, act: () => Promise<void>) => {
    const start = performance.now();
    const fault = await act().then(
      () => undefined,
      (error: unknown) => (error instanceof SmokeError ? error.message : String(error)),
    );
    const seconds = ((performance.now() - start) / 1000).toFixed(1).padStart(6);
    context.tell(`${fault === undefined ? 'ok    ' : 'FAILED'} ${seconds} s  ${name}${fault ? `\n${fault}` : ''}`);
    if (fault !== undefined) failures += 1;
  };
  for (const row of rows) {
    if (row.elsewhere !== undefined) context.tell(`--             ${row.command}: ${row.elsewhere}`);
    else await time(nameOf(row, row.args?.(world) ?? []), () => runRow({ ...context, world, kept }, row));
  }
  for (const { row, running } of kept.stops.reverse()) {
    await time(`${nameOf(row, [])}: SIGTERM`, () => stopWell(running));
  }
  return failures;
}

async function runRow(
  { root, world, kept }: RowContext & { readonly world: SmokeWorld; readonly kept: Kept },
  row: SmokeRow,
): Promise<void> {
  const [script = '', ...words] = row.command.split(' ');
  const args = [...words, ...(row.args?.(world) ?? [])];
  const env = (await row.env?.(world)) ?? {};
  const running = startCommand({ script, args, env, cwd: root, timeoutMs: TIMEOUT_MS });
  try {
    if (row.ready === undefined) return await expectEnd(running, row);
    const url = (await running.waitFor(row.ready))[1] ?? '';
    await row.ask?.(world, url);
    if (row.keep) {
      kept.urls.set(row.command, url);
      kept.stops.push({ row, running });
    } else await stopWell(running);
  } catch (error) {
    running.kill();
    throw error;
  }
}

async function expectEnd(running: RunningCommand, { status = 0, prints }: SmokeRow): Promise<void> {
  const ended = await running.waitForEnd();
  const tail = running.output().slice(-2000);
  if (ended !== status) throw new SmokeError(`It ended with ${ended} instead of ${status}; it printed\n${tail}`);
  if (prints !== undefined && !prints.test(running.output())) {
    throw new SmokeError(`It did not print ${prints}, but\n${tail}`);
  }
}

/** @throws SmokeError when it does not end with 0 */
async function stopWell(running: RunningCommand): Promise<void> {
  const status = await running.stop().finally(() => running.kill());
  if (status !== 0)
    throw new SmokeError(`It ended with ${status} after SIGTERM; it printed\n${running.output().slice(-2000)}`);
}
