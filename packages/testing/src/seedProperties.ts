// A setup file of Vitest: properties draw from TEST_SEED if it is set, so that a run can be repeated.
const { TEST_SEED } = process.env;
if (TEST_SEED !== undefined) {
  const { configureGlobal, readConfigureGlobal } = await import('fast-check');
  configureGlobal({ ...readConfigureGlobal(), seed: Number(TEST_SEED) });
}
