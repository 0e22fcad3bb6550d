import { isIPv4 } from 'node:net';

/** Whether a URL's host is this machine. @param url - absolute */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || (isIPv4(hostname) && hostname.startsWith('127.'));
}
