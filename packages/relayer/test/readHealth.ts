/**
 * Reads what `/health` of a running relayer or watchtower says.
 *
 * @returns `ok`, or a line for each thing that is the matter
 * @throws Error where it was started without its metrics port
 */
export async function readHealth(
  at: { readonly url: string } | { readonly metricsUrl: string | undefined },
): Promise<string> {
  const metricsUrl = 'url' in at ? at.url : at.metricsUrl;
  if (metricsUrl === undefined) throw new Error('started without METRICS_PORT, which its health needs');
  return await (await fetch(`${metricsUrl}/health`)).text();
}
