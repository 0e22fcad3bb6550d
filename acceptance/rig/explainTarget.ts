import type { TargetFacts } from './openTarget.ts';

const TIMEOUT_MS = 10_000;

/**
 * Looks whether a gateway can be tested at all, before a run begins.
 *
 * @returns why not, in one sentence; undefined if it can
 */
export async function explainTarget({
  url,
  adminKey,
}: Pick<TargetFacts, 'url' | 'adminKey'>): Promise<string | undefined> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const answer = await fetch(`${url}/admin/relayers`, { headers: { 'x-admin-key': adminKey }, signal }).catch(
    () => undefined,
  );
  if (answer === undefined) return `No gateway answers at ${url}.`;
  await answer.arrayBuffer();
  if (answer.status === 401) return `The gateway at ${url} refuses the admin key: pass --admin-key.`;
  if (answer.status === 429) return `The gateway at ${url} has seen too many failed admin calls: wait a minute.`;
  return answer.status === 200 ? undefined : `What answers at ${url} is no gateway, or not ready (${answer.status}).`;
}
