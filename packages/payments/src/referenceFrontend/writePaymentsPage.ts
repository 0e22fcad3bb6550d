import type { FrontendPayment } from './openFrontendStore.ts';

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

function describeState(payment: FrontendPayment, nowMs: number): string {
  if (payment.txHash !== undefined) return 'completed';
  return payment.leaseUntilMs > nowMs ? 'claimed' : 'pending';
}

/**
 * Writes the page that lists payments.
 *
 * @param payments - all of them
 * @param nowMs - milliseconds since the epoch
 * @returns HTML, every value escaped
 */
export function writePaymentsPage(payments: readonly FrontendPayment[], nowMs: number): string {
  const rows = payments.map((payment) => {
    const cells = [
      payment.paymentIntentId,
      payment.walletAddress,
      payment.stablecoinAmount,
      describeState(payment, nowMs),
      `${payment.claims}`,
      payment.txHash ?? '',
    ];
    return `<tr>${cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`;
  });
  const heads = ['Payment intent', 'Wallet', 'Stablecoin units', 'State', 'Claims', 'Transaction'];
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="2"><title>Payments</title>
<style>body{font:14px system-ui;margin:2em}table{border-collapse:collapse}td,th{padding:.3em .8em;border-bottom:1px solid #ccc;text-align:left}</style>
<h1>Payments</h1><table><tr>${heads.map((head) => `<th>${head}</th>`).join('')}</tr>
${rows.join('\n')}
</table></html>`;
}
