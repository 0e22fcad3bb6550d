/**
 * Puts relayers on a gateway's whitelist.
 *
 * @param params the gateway's address, its admin key, the relayers' addresses
 * @throws Error when the gateway refuses one
 * @see docs/specification.md WHITELIST-1
 */
export async function whitelistRelayers(params: {
  readonly url: string;
  readonly adminKey: string;
  readonly addresses: readonly string[];
}): Promise<void> {
  for (const address of params.addresses) {
    const answer = await fetch(`${params.url}/admin/relayers`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Admin-Key': params.adminKey },
      body: JSON.stringify({ address, label: 'bench' }),
    });
    const body = await answer.text();
    if (answer.status !== 201) throw new Error(`A relayer was not whitelisted: ${answer.status} ${body}`);
  }
}
