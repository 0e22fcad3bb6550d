// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Forwarder} from "../Forwarder.sol";
import {PrismCloud} from "../cloud/PrismCloud.sol";
import {CreditToken} from "../tokens/CreditToken.sol";
import {CampaignKeys as Keys} from "./CampaignKeys.sol";
import {CampaignRelayer} from "./CampaignRelayer.sol";
import {HashHarness} from "./HashHarness.sol";
import {HostileWallet} from "./HostileWallet.sol";

/// @title What the campaign knows, for tests
/// @notice The rules of prisms, entries, fees and nonces, told once more, and compared with the contracts.
abstract contract CampaignModel {
    /// @dev What the rules say that a prism is.
    struct Prism {
        address owner;
        address pending;
        uint256 balance;
        uint256 sponsored;
        uint256 sponsor;
        bool deleted;
        bool known;
    }

    /// @dev The first are contract wallets, the others keys.
    uint256 internal constant WALLETS = 4;
    uint256 internal constant USERS = 7;
    uint256 internal constant PRISMS = 14;
    uint256 internal constant IDS = 4;
    uint256 internal constant RELAYERS = 2;

    Forwarder internal immutable forwarder;
    PrismCloud internal immutable cloud;
    CreditToken internal immutable token;
    HashHarness internal immutable hashes;
    uint256 private immutable supply;

    address[USERS] internal users;
    uint256[USERS] internal keys;
    CampaignRelayer[RELAYERS] internal relayers;
    uint256[USERS] internal nonces;
    /// @dev What the Forwarder may pull from a key's account: what permits have left.
    uint256[USERS] internal allowances;
    mapping(uint256 prism => Prism) internal prisms;
    mapping(uint256 prism => mapping(uint256 id => bytes32)) internal entries;
    uint256[RELAYERS] internal earned;
    uint256[RELAYERS] internal treasuryEarned;
    uint256 internal random;
    uint256 internal calls;

    /// @notice Something is otherwise than the rules say.
    error Broken(string what, uint256 call);

    constructor(Forwarder forwarder_, PrismCloud cloud_, CreditToken token_, uint256[] memory keys_) {
        (forwarder, cloud, token, supply) = (forwarder_, cloud_, token_, token_.totalSupply());
        hashes = new HashHarness();
        for (uint256 i = 0; i < RELAYERS; ++i) {
            relayers[i] = new CampaignRelayer(token_, address(forwarder_), address(cloud_));
        }
        bytes memory approval = abi.encodeCall(token_.approve, (address(forwarder_), type(uint256).max));
        for (uint256 i = 0; i < WALLETS; ++i) {
            HostileWallet wallet = new HostileWallet();
            wallet.execute(address(token_), approval);
            users[i] = address(wallet);
        }
        for (uint256 i = 0; i < keys_.length; ++i) {
            (users[WALLETS + i], keys[WALLETS + i]) = (Keys.addressOf(keys_[i]), keys_[i]);
        }
    }

    function _pick(uint256 below) internal returns (uint256) {
        random = uint256(keccak256(abi.encode(random)));
        return random % below;
    }

    function _check(bool holds, string memory what) internal view {
        if (!holds) revert Broken(what, calls);
    }

    function _userOf(address account) internal view returns (uint256 user) {
        while (user < USERS && users[user] != account) ++user;
    }

    function _cloudId(uint256 prism) internal view returns (bytes32) {
        return keccak256(abi.encode(users[prism / 2], bytes32(prism % 2)));
    }

    function _pays(uint256 prism, uint256 user, uint256 due) internal view returns (bool) {
        return prisms[prism].owner == users[user] && prisms[prism].balance >= due;
    }

    /// @dev Whether a list can be written, replaced or removed one after the other.
    /// @param mode 0 write, 1 modify, 2 remove
    function _fits(uint256 prism, bytes32[] memory ids, bytes[] memory payloads, uint256 mode)
        internal
        view
        returns (bool)
    {
        if (ids.length == 0 || ids.length != payloads.length) return false;
        for (uint256 i = 0; i < ids.length; ++i) {
            bool isThere = entries[prism][uint256(ids[i])] != 0;
            for (uint256 j = 0; j < i; ++j) if (ids[j] == ids[i] && mode != 1) return false;
            if (isThere != (mode != 0)) return false;
        }
        return true;
    }

    function _put(uint256 prism, bytes32[] memory ids, bytes[] memory payloads, uint256 mode) internal {
        for (uint256 i = 0; i < ids.length; ++i) {
            entries[prism][uint256(ids[i])] = mode == 2 ? bytes32(0) : keccak256(payloads[i]);
        }
    }

    function _isOfficial(uint256 relayer) internal view returns (bool) {
        return forwarder.isOfficialRelayer(address(relayers[relayer]));
    }

    /// @dev Writes down what a relayer and the treasury must have earned with one transaction.
    function _earn(uint256 relayer, uint256 fees, uint256 protocol) internal {
        uint256 share = _isOfficial(relayer) ? fees : fees * forwarder.relayerShareBps() / 10_000;
        earned[relayer] += share;
        treasuryEarned[relayer] += fees - share + protocol;
    }

    function _checkUser(uint256 user) internal view {
        _check(forwarder.nonces(users[user]) == nonces[user], "a nonce");
        if (user >= WALLETS) {
            _check(token.allowance(users[user], address(forwarder)) == allowances[user], "an allowance");
        }
    }

    function _checkEarnings() internal view {
        for (uint256 i = 0; i < RELAYERS; ++i) {
            (uint256 relayer, uint256 treasury) = cloud.earningsOf(address(relayers[i]));
            _check(relayer == earned[i] && treasury == treasuryEarned[i], "earnings");
        }
    }

    function _checkPrism(uint256 prism) internal view {
        Prism storage model = prisms[prism];
        bytes32 cloudId = _cloudId(prism);
        (address owner, address pending, uint256 balance, bool deleted) = cloud.prisms(cloudId);
        _check(owner == model.owner && pending == model.pending && deleted == model.deleted, "a prism's owner");
        _check(balance == model.balance, "a prism's balance");
        (, uint256 sponsored) = cloud.sponsorOf(cloudId);
        _check(sponsored == model.sponsored, "a prism's sponsored credits");
        for (uint256 id = 0; id < IDS; ++id) {
            bytes32 hash = owner == address(0) ? bytes32(0) : entries[prism][id];
            _check(cloud.hasData(cloudId, bytes32(id)) == (hash != 0), "an entry is there or not");
            if (hash != 0) _check(keccak256(cloud.dataOf(cloudId, bytes32(id))) == hash, "an entry's payload");
        }
    }

    /// @dev Credits are conserved to the unit, and nobody's prism, nonce or earnings have moved unasked.
    function _checkSums() internal view {
        uint256 sum = 0;
        for (uint256 i = 0; i < RELAYERS; ++i) sum += earned[i] + treasuryEarned[i];
        for (uint256 prism = 0; prism < PRISMS; ++prism) {
            _checkPrism(prism);
            sum += prisms[prism].balance;
        }
        for (uint256 user = 0; user < USERS; ++user) _checkUser(user);
        _checkEarnings();
        _check(token.balanceOf(address(cloud)) == sum, "the cloud's credits");
        _check(token.balanceOf(address(forwarder)) == 0, "the Forwarder holds credits");
        _check(token.totalSupply() == supply, "the supply");
    }
}
