// @ts-check
/** A container's health check: ends with 0 if HEALTH_URL answers with 2xx, and with 1 else. */

/** Less than the time that the container's manager gives. */
const TIMEOUT_MS = 4000;

/**
 * @param {string} url
 * @returns {Promise<boolean>} whether it answers and is well
 */
async function isWell(url) {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'error' })).ok;
  } catch {
    return false;
  }
}

process.exitCode = (await isWell(process.env.HEALTH_URL ?? 'http://127.0.0.1:8787/ready')) ? 0 : 1;
