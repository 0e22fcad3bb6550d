// Written by scripts/writeVectors.ts: change scripts/exampleRequests.ts and run `npm run vectors`.

import type { Action } from '../actions/action.ts';
import type { CreateRequestBody } from '../requests/create.ts';

/** A body of `POST /requests` for each action. */
export type ExampleRequests = { readonly [A in Action]: Extract<CreateRequestBody, { readonly action: A }> };

/**
 * One valid request of each action, really signed by well-known development keys.
 *
 * @see EXAMPLE_CONTEXT - the chain, contracts and nonces that the signatures are for
 */
export const EXAMPLE_REQUESTS: ExampleRequests = {
  CREATE_PRISM_FOR: {
    chainName: 'eip155:31337',
    action: 'CREATE_PRISM_FOR',
    params: {
      fundAmount: '5000000000000000000',
      salt: '0x2a',
      permit: {
        deadline: '1767229200',
        v: 28,
        r: '0x9a9b54aec6fba51ba9645d894214876690eea5d1570403f73933e95e058703ce',
        s: '0x3c8f0d78cce26a66b26b1dad293ad35b51663da6537b6cbe943a6d20ab77007d',
      },
      relayerFee: '10000000000000000',
      timestamp: '1767225600',
      signer: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
      v: 28,
      r: '0x865be48cb6d8f237a72c6963a935fb244406a86f24923fd1f31b34ccd0cfb224',
      s: '0x69febe10d2c73212918d3bfeebd787b7f98dea92e107526400b8ee9aeffbe332',
    },
  },
  WRITE_DATA_FOR: {
    chainName: 'eip155:31337',
    action: 'WRITE_DATA_FOR',
    params: {
      cloudId: '0xbd58ae2efa10198bf9d62fa8008ecd43cd356d799c445db6113d3eee7d898937',
      dataId: '0xe3dd854eb9d23c94680b3ec632b9072842365d9a702ab0df7da8bc398ee52c7d',
      payload: '0x7b226e616d65223a22416461227d',
      relayerFee: '10000000000000000',
      timestamp: '1767225600',
      signer: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
      v: 28,
      r: '0x426a7d465fe3b26aae9d71da3e0ef858bd6c50e25443aed009286c5ddfced22a',
      s: '0x09b942cab9af5b983b74ba717cb4b5547b5bb5a64cab9013570c21d124f26642',
    },
  },
  MODIFY_DATA_FOR: {
    chainName: 'eip155:31337',
    action: 'MODIFY_DATA_FOR',
    params: {
      cloudId: '0xbd58ae2efa10198bf9d62fa8008ecd43cd356d799c445db6113d3eee7d898937',
      dataId: '0xe3dd854eb9d23c94680b3ec632b9072842365d9a702ab0df7da8bc398ee52c7d',
      payload: '0x7b226e616d65223a22416461204c6f76656c616365227d',
      relayerFee: '10000000000000000',
      timestamp: '1767225600',
      signer: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
      v: 27,
      r: '0xcfc09b691b79493cb6590db1491809e915d90a759b93c9c757abbaca271ad26e',
      s: '0x0c5ca1a3437802c2bb4ee43d80a9642a3acb25423765afecdf649f14451bbdbe',
    },
  },
  DELETE_DATA_FOR: {
    chainName: 'eip155:31337',
    action: 'DELETE_DATA_FOR',
    params: {
      cloudId: '0xbd58ae2efa10198bf9d62fa8008ecd43cd356d799c445db6113d3eee7d898937',
      dataId: '0x0d',
      relayerFee: '10000000000000000',
      timestamp: '1767225600',
      signer: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
      v: 28,
      r: '0x297c9f79a22c8ee9d1148a837084951776b035bd36edd9bf13a4556a4128c56c',
      s: '0x10e6c5a58c07a7dfa69436049aa58ef4c5cea61c58bffa53610ddaa3782e492f',
    },
  },
  TRANSFER_PRISM_FOR: {
    chainName: 'eip155:31337',
    action: 'TRANSFER_PRISM_FOR',
    params: {
      cloudId: '0xbd58ae2efa10198bf9d62fa8008ecd43cd356d799c445db6113d3eee7d898937',
      newOwner: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      relayerFee: '10000000000000000',
      timestamp: '1767225600',
      signer: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
      v: 28,
      r: '0x4299712e9aad00715e35058983ce15340812f12c7a8c305797e907ed00a8c099',
      s: '0x1b1048c6632dae62e86aacdaa97e2ae15ac78afdc1d45785fc2c9fb440ee6ea3',
    },
  },
  ACCEPT_TRANSFER_FOR: {
    chainName: 'eip155:31337',
    action: 'ACCEPT_TRANSFER_FOR',
    params: {
      cloudId: '0xbd58ae2efa10198bf9d62fa8008ecd43cd356d799c445db6113d3eee7d898937',
      relayerFee: '10000000000000000',
      timestamp: '1767225600',
      signer: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
      v: 27,
      r: '0x356b17a518e06c386654ed4317a0f9fdfb1e43c0e85a73fe621359b1e5d0734a',
      s: '0x4ed50fe7f016132bd16f385a9954fe55b38f452af40b322623efdbf4b0dc5707',
    },
  },
  DELETE_PRISM_FOR: {
    chainName: 'eip155:31337',
    action: 'DELETE_PRISM_FOR',
    params: {
      cloudId: '0xbd58ae2efa10198bf9d62fa8008ecd43cd356d799c445db6113d3eee7d898937',
      relayerFee: '10000000000000000',
      timestamp: '1767225600',
      signer: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
      v: 27,
      r: '0xecfa010cfd3d211a547d9c535f461a9aebf20d9ea0b756a48b8bfcc5de87ee11',
      s: '0x5d7d479b61eb6dedfa55c43b6dc61b9996a0a68ec2471c7ef14c1433b8bde721',
    },
  },
  BATCH_WRITE_DATA_FOR: {
    chainName: 'eip155:31337',
    action: 'BATCH_WRITE_DATA_FOR',
    params: {
      cloudId: '0xbd58ae2efa10198bf9d62fa8008ecd43cd356d799c445db6113d3eee7d898937',
      dataIds: [
        '0xe3dd854eb9d23c94680b3ec632b9072842365d9a702ab0df7da8bc398ee52c7d',
        '0xd1f86c93d831119ad98fe983e643a7431e4ac992e3ead6e3007f4dd1adf66343',
      ],
      payloads: ['0x7b226e616d65223a22416461227d', '0x89504e47'],
      relayerFee: '10000000000000000',
      timestamp: '1767225600',
      signer: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
      v: 27,
      r: '0x75245394eb28e6fd9248138ada3b5af709a1cea5ae482423311829a3b135d4eb',
      s: '0x03041116002f0e4461b08fe9932fef5b183700f8bd86068892546b96493d5aae',
    },
  },
  BATCH_MODIFY_DATA_FOR: {
    chainName: 'eip155:31337',
    action: 'BATCH_MODIFY_DATA_FOR',
    params: {
      cloudId: '0xbd58ae2efa10198bf9d62fa8008ecd43cd356d799c445db6113d3eee7d898937',
      dataIds: [
        '0xe3dd854eb9d23c94680b3ec632b9072842365d9a702ab0df7da8bc398ee52c7d',
        '0xd1f86c93d831119ad98fe983e643a7431e4ac992e3ead6e3007f4dd1adf66343',
      ],
      payloads: ['0x7b226e616d65223a22416461227d', '0x'],
      relayerFee: '10000000000000000',
      timestamp: '1767225600',
      signer: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
      v: 28,
      r: '0x7ecb56b3fbab631606d17cc26c1e873ceffb2a1cde0dcb17fce2dd82408a08ed',
      s: '0x2ed03644242408ac901141308deabd9aba20184e65f63232f66c83bb5b464137',
    },
  },
  BATCH_DELETE_DATA_FOR: {
    chainName: 'eip155:31337',
    action: 'BATCH_DELETE_DATA_FOR',
    params: {
      cloudId: '0xbd58ae2efa10198bf9d62fa8008ecd43cd356d799c445db6113d3eee7d898937',
      dataIds: [
        '0xe3dd854eb9d23c94680b3ec632b9072842365d9a702ab0df7da8bc398ee52c7d',
        '0xd1f86c93d831119ad98fe983e643a7431e4ac992e3ead6e3007f4dd1adf66343',
      ],
      relayerFee: '10000000000000000',
      timestamp: '1767225600',
      signer: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
      v: 28,
      r: '0xd15d3aff83b747194bd2c5360ba74f9e9ea11da1dabc9f4d3647f8eca574ccb5',
      s: '0x2ca977a357b4860520e34b53ec742f15f8b95484570056878ed01c36aba89361',
    },
  },
  CREATE_PRISM_WITH_DATA_FOR: {
    chainName: 'eip155:31337',
    action: 'CREATE_PRISM_WITH_DATA_FOR',
    params: {
      fundAmount: '0',
      relayerFundAmount: '2000000000000000000',
      salt: '0x2b',
      dataIds: ['0xe3dd854eb9d23c94680b3ec632b9072842365d9a702ab0df7da8bc398ee52c7d'],
      payloads: ['0x7b226e616d65223a22416461227d'],
      relayerFee: '10000000000000000',
      timestamp: '1767225600',
      signer: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
      v: 27,
      r: '0xb65f20ed965e98f5443d3da64b2d22739f16f846324b81ba2bc10322ab111561',
      s: '0x2c991b0460b95b27f9f3a339044dfc1a866905814fee2123a8545289d140f665',
    },
  },
  BATCH_MULTI_USER_WRITE_DATA: {
    chainName: 'eip155:31337',
    action: 'BATCH_MULTI_USER_WRITE_DATA',
    params: {
      requests: [
        {
          cloudId: '0x3c8e904cdb19937d60d41c8d984b1a8803ad6e0891b4f9e032dcec2a22c2c7f5',
          dataId: '0xe3dd854eb9d23c94680b3ec632b9072842365d9a702ab0df7da8bc398ee52c7d',
          payload: '0x7b226e616d65223a22416461227d',
          relayerFee: '10000000000000000',
          timestamp: '1767225600',
          signer: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
          v: 27,
          r: '0xf6fdb9948f87af81ccfcc056b6554b90ae48f8401564ecfd982643a297f91a8e',
          s: '0x501dfefac41b3ed8805f5df11dee32aee8607f47fdbcbbf992bea96736c57c85',
        },
        {
          cloudId: '0xbd19ff506d92b45639170e62f1a12073921a4358c3ccd05d4584519f78d65103',
          dataId: '0xe3dd854eb9d23c94680b3ec632b9072842365d9a702ab0df7da8bc398ee52c7d',
          payload: '0x7b226e616d65223a22416461227d',
          relayerFee: '10000000000000000',
          timestamp: '1767225600',
          signer: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
          v: 28,
          r: '0x2831032f577b1f78a65560aa7207c64b01f3cdb6c1f6b02bfbc63f9840c3a18d',
          s: '0x35a2f15fe008de341bf495a4a02c92eec64373fbbd33a5d93b5107b909cfc0cc',
        },
      ],
      relayerFee: '20000000000000000',
      timestamp: '1767225600',
      signer: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
      v: 0,
      r: '0x0000000000000000000000000000000000000000000000000000000000000000',
      s: '0x0000000000000000000000000000000000000000000000000000000000000000',
    },
  },
};
