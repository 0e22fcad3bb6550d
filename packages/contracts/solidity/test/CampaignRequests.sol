// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Authorization, Creation} from "../forwarder/RequestTypes.sol";
import {CampaignSigners} from "./CampaignSigners.sol";

/// @title The requests of one signer that the campaign makes, for tests
/// @notice Each is made up at random, its outcome is predicted, and then it is submitted.
abstract contract CampaignRequests is CampaignSigners {
    /// @dev Places in `done`, in the order of the Forwarder's functions.
    uint256 internal constant MULTI_USER = 11;

    /// @dev Requests that were carried out, by function in the Forwarder's order; refused; and those without enough gas.
    uint256[12] internal done;
    uint256 internal refused;
    uint256 internal starved;
    /// @dev Permits that creations have used.
    uint256 internal permitsUsed;

    /// @dev A call that was given little gas was undone, and so is what was written down of it.
    error Undone();

    /// @dev Makes a call that must succeed or fail, and compares whatever it may have touched.
    /// @param place In `done`.
    function _call(uint256 relayer, bytes memory data, bool passes, uint256 user, uint256 prism, uint256 place) internal {
        bool isStarved = _pick(12) == 0;
        uint256 gasLimit = isStarved ? 40_000 + _pick(400_000) : gasleft();
        (bool success,) = relayers[relayer].act(address(forwarder), data, gasLimit);
        if (isStarved && !success) revert Undone();
        _check(success == passes, passes ? "a right request was refused" : "a wrong request was carried out");
        if (success) ++done[place];
        else ++refused;
        _checkUser(user);
        _checkPrism(prism);
        _checkEarnings();
        // Once more, the very same: a key's request is good for once. A wallet that approves anything approves this as well.
        if (!success || user < WALLETS || users[user].code.length != 0 || _pick(4) != 0) return;
        (success,) = relayers[relayer].act(address(forwarder), data, gasleft());
        _check(!success, "a request was carried out twice");
    }

    /// @dev Mostly a prism that can be used so: others are asked for as well, as they must be refused.
    function _aim(bool isThere) internal returns (uint256 prism) {
        for (uint256 tries = 0; tries < 3; ++tries) {
            prism = _pick(PRISMS);
            if (isThere ? prisms[prism].owner != address(0) : !prisms[prism].known) return prism;
        }
    }

    /// @dev Whether some entry can be written (mode 0), or replaced or removed.
    function _hasRoom(uint256 prism, uint256 mode) internal view returns (bool hasRoom) {
        for (uint256 id = 0; id < IDS && !hasRoom; ++id) hasRoom = (entries[prism][id] != 0) == (mode != 0);
    }

    /// @dev Mostly another mode where this one finds no entry.
    function _modeFor(uint256 prism, uint256 mode) private returns (uint256) {
        if (_hasRoom(prism, mode) || _pick(6) == 0) return mode;
        return mode == 0 ? 1 + _pick(2) : 0;
    }

    /// @dev Mostly its owner.
    function _actor(uint256 prism) internal returns (uint256 user) {
        user = _userOf(prisms[prism].owner);
        if (user == USERS || _pick(12) == 0) user = _pick(USERS);
    }

    function _payload() private returns (bytes memory payload) {
        uint256[8] memory lengths = [uint256(0), 1, 20, 31, 32, 63, 64, 100];
        payload = new bytes(lengths[_pick(8)]);
        bytes32 word = bytes32(_pick(type(uint256).max));
        for (uint256 i = 0; i < payload.length; ++i) payload[i] = word[i % 32];
    }

    /// @dev Mostly entries that are there, or are not, as the mode wants it.
    function _lists(uint256 prism, uint256 most, uint256 mode) internal returns (bytes32[] memory ids, bytes[] memory payloads) {
        uint256 count = most == 1 ? 1 : _pick(12) == 0 ? 0 : 1 + _pick(most);
        bool isAny = _pick(8) == 0;
        uint256 first = _pick(IDS);
        ids = new bytes32[](count);
        uint256 found = 0;
        for (uint256 i = 0; i < IDS && found < count && !isAny; ++i) {
            uint256 id = (first + i) % IDS;
            if ((entries[prism][id] != 0) == (mode != 0)) ids[found++] = bytes32(id);
        }
        if (isAny) for (; found < count; ++found) ids[found] = bytes32(_pick(IDS));
        else if (found != 0 && found < count) {
            assembly ("memory-safe") {
                mstore(ids, found)
            }
        }
        payloads = new bytes[](ids.length + (most != 1 && mode != 2 && _pick(12) == 0 ? 1 : 0));
        for (uint256 i = 0; i < payloads.length; ++i) payloads[i] = mode == 2 ? bytes("") : _payload();
    }

    function _create(uint256 relayer, bool withData) internal {
        uint256 prism = _aim(false);
        uint256 user = prism / 2;
        (Authorization memory auth, bool passes) = _draw(user, relayer);
        Creation memory creation;
        creation.salt = bytes32(prism % 2);
        creation.relayerFundAmount = _pick(3) == 0 ? 0 : _pick(900);
        uint256 held = token.balanceOf(users[user]);
        // Often little, so that the sponsor's credits are soon spent.
        uint256 size = _pick(8);
        creation.fundAmount = size == 0 ? held + 1 - _pick(2) : size < 5 ? _pick(60) : _pick(held + 1) / 2;
        (bytes32[] memory ids, bytes[] memory payloads) = _lists(prism, 3, 0);
        uint256 protocol = withData ? forwarder.protocolFee() : 0;
        uint256 funds = creation.fundAmount + creation.relayerFundAmount;
        {
            Prism storage model = prisms[prism];
            passes = passes && !model.known && creation.fundAmount <= held && funds >= auth.relayerFee + protocol
                && (!withData || _fits(prism, ids, payloads, 0));
        }
        bytes32 structHash = withData
            ? hashes.createPrismWithDataFor(creation, ids, payloads, auth, nonces[user])
            : hashes.createPrismFor(creation, auth, nonces[user]);
        passes = _seal(auth, user, structHash) && passes;
        bool isAllowed;
        (creation.permit, isAllowed) = _permit(user, creation.fundAmount);
        passes = passes && isAllowed;
        if (passes) {
            prisms[prism] = Prism(users[user], address(0), funds, creation.relayerFundAmount, relayer, false, true);
            _charge(relayer, user, prism, auth.relayerFee, protocol);
            if (withData) _put(prism, ids, payloads, 0);
        } else if (user >= WALLETS) {
            // A creation that fails uses no permit, but somebody may have used it before.
            allowances[user] = token.allowance(users[user], address(forwarder));
        }
        bytes memory data = withData
            ? abi.encodeCall(forwarder.createPrismWithDataFor, (creation, ids, payloads, auth))
            : abi.encodeCall(forwarder.createPrismFor, (creation, auth));
        uint256 permits = token.nonces(users[user]);
        _call(relayer, data, passes, user, prism, withData ? 1 : 0);
        permitsUsed += token.nonces(users[user]) - permits;
    }

    function _charge(uint256 relayer, uint256 user, uint256 prism, uint256 fee, uint256 protocol) private {
        prisms[prism].balance -= fee + protocol;
        ++nonces[user];
        _earn(relayer, fee, protocol);
    }

    /// @dev WRITE_DATA_FOR, MODIFY_DATA_FOR, DELETE_DATA_FOR.
    function _one(uint256 relayer, uint256 mode) internal {
        uint256 prism = _aim(true);
        mode = _modeFor(prism, mode);
        uint256 user = _actor(prism);
        (Authorization memory auth, bool passes) = _draw(user, relayer);
        (bytes32[] memory ids, bytes[] memory payloads) = _lists(prism, 1, mode);
        uint256 protocol = mode == 2 ? 0 : forwarder.protocolFee();
        passes = passes && _pays(prism, user, auth.relayerFee + protocol) && _fits(prism, ids, payloads, mode);
        bytes32 cloudId = _cloudId(prism);
        bytes memory data;
        if (mode == 0) {
            passes = _seal(auth, user, hashes.writeDataFor(cloudId, ids[0], payloads[0], auth, nonces[user])) && passes;
            data = abi.encodeCall(forwarder.writeDataFor, (cloudId, ids[0], payloads[0], auth));
        } else if (mode == 1) {
            passes = _seal(auth, user, hashes.modifyDataFor(cloudId, ids[0], payloads[0], auth, nonces[user])) && passes;
            data = abi.encodeCall(forwarder.modifyDataFor, (cloudId, ids[0], payloads[0], auth));
        } else {
            passes = _seal(auth, user, hashes.deleteDataFor(cloudId, ids[0], auth, nonces[user])) && passes;
            data = abi.encodeCall(forwarder.deleteDataFor, (cloudId, ids[0], auth));
        }
        if (passes) _charge(relayer, user, prism, auth.relayerFee, protocol);
        if (passes) _put(prism, ids, payloads, mode);
        _call(relayer, data, passes, user, prism, 2 + mode);
    }

    /// @dev BATCH_WRITE_DATA_FOR, BATCH_MODIFY_DATA_FOR, BATCH_DELETE_DATA_FOR.
    function _many(uint256 relayer, uint256 mode) internal {
        uint256 prism = _aim(true);
        mode = _modeFor(prism, mode);
        uint256 user = _actor(prism);
        (Authorization memory auth, bool passes) = _draw(user, relayer);
        (bytes32[] memory ids, bytes[] memory payloads) = _lists(prism, 3, mode);
        uint256 protocol = mode == 2 ? 0 : forwarder.protocolFee();
        passes = passes && _pays(prism, user, auth.relayerFee + protocol) && _fits(prism, ids, payloads, mode);
        bytes32 cloudId = _cloudId(prism);
        bytes memory data;
        if (mode == 0) {
            passes = _seal(auth, user, hashes.batchWriteDataFor(cloudId, ids, payloads, auth, nonces[user])) && passes;
            data = abi.encodeCall(forwarder.batchWriteDataFor, (cloudId, ids, payloads, auth));
        } else if (mode == 1) {
            passes = _seal(auth, user, hashes.batchModifyDataFor(cloudId, ids, payloads, auth, nonces[user])) && passes;
            data = abi.encodeCall(forwarder.batchModifyDataFor, (cloudId, ids, payloads, auth));
        } else {
            passes = _seal(auth, user, hashes.batchDeleteDataFor(cloudId, ids, auth, nonces[user])) && passes;
            data = abi.encodeCall(forwarder.batchDeleteDataFor, (cloudId, ids, auth));
        }
        if (passes) _charge(relayer, user, prism, auth.relayerFee, protocol);
        if (passes) _put(prism, ids, payloads, mode);
        _call(relayer, data, passes, user, prism, 8 + mode);
    }

    /// @dev TRANSFER_PRISM_FOR, ACCEPT_TRANSFER_FOR (twice), DELETE_PRISM_FOR.
    function _own(uint256 relayer, uint256 kind) internal {
        uint256 prism = _aim(true);
        Prism storage model = prisms[prism];
        uint256 user = _actor(prism);
        // A prism that is deleted is of no more use: seldom.
        if (kind == 3 && _pick(3) != 0) kind = 0;
        if (kind != 3 && kind != 0 && model.pending == address(0) && _pick(4) != 0) kind = 0;
        else if (kind != 3 && kind != 0 && model.pending != address(0) && _pick(8) != 0) user = _userOf(model.pending);
        (Authorization memory auth, bool passes) = _draw(user, relayer);
        address entitled = kind == 1 || kind == 2 ? model.pending : model.owner;
        passes = passes && entitled == users[user] && !model.deleted && model.balance >= auth.relayerFee;
        address heir = _pick(5) == 0 ? address(0) : users[_pick(USERS)];
        bytes32 cloudId = _cloudId(prism);
        if (kind == 0) {
            passes = _seal(auth, user, hashes.transferPrismFor(cloudId, heir, auth, nonces[user])) && passes;
            if (passes) _charge(relayer, user, prism, auth.relayerFee, 0);
            if (passes) model.pending = heir;
            _call(relayer, abi.encodeCall(forwarder.transferPrismFor, (cloudId, heir, auth)), passes, user, prism, 5);
        } else if (kind != 3) {
            passes = _seal(auth, user, hashes.acceptTransferFor(cloudId, auth, nonces[user])) && passes;
            if (passes) _charge(relayer, user, prism, auth.relayerFee, 0);
            if (passes) (model.owner, model.pending) = (users[user], address(0));
            _call(relayer, abi.encodeCall(forwarder.acceptTransferFor, (cloudId, auth)), passes, user, prism, 6);
        } else {
            passes = _seal(auth, user, hashes.deletePrismFor(cloudId, auth, nonces[user])) && passes;
            uint256 due = token.balanceOf(users[user]);
            if (passes) {
                _charge(relayer, user, prism, auth.relayerFee, 0);
                due += _end(prism);
            }
            _call(relayer, abi.encodeCall(forwarder.deletePrismFor, (cloudId, auth)), passes, user, prism, 7);
            _check(token.balanceOf(users[user]) == due, "the owner did not get the rest");
        }
    }

    /// @dev What is left of the sponsor's credits goes back to it, and the rest to the owner.
    function _end(uint256 prism) private returns (uint256 rest) {
        Prism storage model = prisms[prism];
        uint256 back = model.sponsored < model.balance ? model.sponsored : model.balance;
        rest = model.balance - back;
        earned[model.sponsor] += back;
        prisms[prism] = Prism(address(0), address(0), 0, 0, 0, true, true);
    }
}
