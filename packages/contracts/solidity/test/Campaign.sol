// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Forwarder} from "../Forwarder.sol";
import {PrismCloud} from "../cloud/PrismCloud.sol";
import {Authorization, Creation, RefusedEntry, WriteEntry} from "../forwarder/RequestTypes.sol";
import {CreditToken} from "../tokens/CreditToken.sol";
import {CampaignModel} from "./CampaignModel.sol";
import {CampaignSigners} from "./CampaignSigners.sol";
import {HostileWallet} from "./HostileWallet.sol";

/// @title A campaign of calls, for tests
/// @notice Users and relayers that ask for anything, sensible or not, in any order, and an owner that changes the policy at any
///         time. It knows for each call what must become of it; the first thing that is otherwise reverts the whole run.
contract Campaign is CampaignSigners {
    uint256 private constant STEP_GAS = 12_000_000;
    /// @dev Places in `done`, in the order of the Forwarder's functions.
    uint256 private constant MULTI_USER = 11;

    /// @notice Requests that were carried out, by function in the Forwarder's order; refused; and those without enough gas.
    uint256[12] private done;
    uint256 private refused;
    uint256 private starved;
    /// @notice Permits that creations have used.
    uint256 private permitsUsed;

    /// @dev A call that was given little gas was undone, and so is what was written down of it.
    error Undone();

    constructor(Forwarder forwarder_, PrismCloud cloud_, CreditToken token_, uint256[] memory keys_)
        CampaignModel(forwarder_, cloud_, token_, keys_)
    {}

    /// @notice Takes over what an owner may do, which was offered to it, and gives out the credits that it holds.
    function begin() external {
        forwarder.acceptOwnership();
        cloud.acceptOwnership();
        uint256 part = token.balanceOf(address(this)) / (2 * RELAYERS);
        for (uint256 i = 0; i < RELAYERS; ++i) token.transfer(address(relayers[i]), part);
        for (uint256 i = 0; i < USERS; ++i) token.transfer(users[i], 1000);
    }

    /// @notice Makes calls until there are enough, or the gas is nearly used up; then all sums are compared.
    /// @return made How many.
    function run(uint256 seed, uint256 count) external returns (uint256 made) {
        for (; made < count && gasleft() > STEP_GAS; ++made) {
            ++calls;
            seed = uint256(keccak256(abi.encode(seed)));
            try this.step(seed) {}
            catch (bytes memory fault) {
                if (bytes4(fault) != Undone.selector) {
                    assembly ("memory-safe") {
                        revert(add(fault, 0x20), mload(fault))
                    }
                }
                ++starved;
            }
        }
        _checkSums();
    }

    /// @notice What has been counted.
    function counts() external view returns (uint256[12] memory, uint256, uint256, uint256, uint256) {
        return (done, refused, starved, permitsUsed, calls);
    }

    /// @notice One call; a function of its own so that it can be undone, and its memory is given back.
    function step(uint256 seed) external {
        require(msg.sender == address(this));
        random = seed;
        uint256 kind = _pick(32);
        uint256 relayer = _pick(RELAYERS);
        if (kind < 4) _create(relayer, kind == 0 || kind == 1);
        else if (kind < 13) _one(relayer, (kind - 4) / 3);
        else if (kind < 18) _many(relayer, kind - 13 < 3 ? kind - 13 : kind - 15);
        else if (kind < 22) _own(relayer, kind - 18);
        else if (kind < 25) _multiUser(relayer);
        else if (kind == 25) _fund(relayer);
        else if (kind == 26) _invalidate();
        else if (kind < 29) _behave();
        else if (kind == 29) _payOut(relayer);
        else if (kind == 30) _govern(relayer);
        else _trespass(relayer);
    }

    /// @dev Makes a call that must succeed or fail, and compares whatever it may have touched.
    /// @param place In `done`.
    function _call(uint256 relayer, bytes memory data, bool passes, uint256 user, uint256 prism, uint256 place) private {
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
    function _aim(bool isThere) private returns (uint256 prism) {
        for (uint256 tries = 0; tries < 3; ++tries) {
            prism = _pick(PRISMS);
            if (isThere ? prisms[prism].owner != address(0) : !prisms[prism].known) return prism;
        }
    }

    /// @dev Whether some entry can be written (mode 0), or replaced or removed.
    function _hasRoom(uint256 prism, uint256 mode) private view returns (bool hasRoom) {
        for (uint256 id = 0; id < IDS && !hasRoom; ++id) hasRoom = (entries[prism][id] != 0) == (mode != 0);
    }

    /// @dev Mostly another mode where this one finds no entry.
    function _modeFor(uint256 prism, uint256 mode) private returns (uint256) {
        if (_hasRoom(prism, mode) || _pick(6) == 0) return mode;
        return mode == 0 ? 1 + _pick(2) : 0;
    }

    /// @dev Mostly its owner.
    function _actor(uint256 prism) private returns (uint256 user) {
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
    function _lists(uint256 prism, uint256 most, uint256 mode) private returns (bytes32[] memory ids, bytes[] memory payloads) {
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

    function _create(uint256 relayer, bool withData) private {
        uint256 prism = _aim(false);
        uint256 user = prism / 2;
        (Authorization memory auth, bool passes) = _draw(user, relayer);
        Creation memory creation;
        creation.salt = bytes32(prism % 2);
        creation.relayerFundAmount = _pick(3) == 0 ? 0 : _pick(900);
        uint256 held = token.balanceOf(users[user]);
        creation.fundAmount = _pick(8) == 0 ? held + 1 - _pick(2) : _pick(held + 1) / 2;
        (bytes32[] memory ids, bytes[] memory payloads) = _lists(prism, 3, 0);
        uint256 protocol = withData ? cloud.protocolFee() : 0;
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
    function _one(uint256 relayer, uint256 mode) private {
        uint256 prism = _aim(true);
        mode = _modeFor(prism, mode);
        uint256 user = _actor(prism);
        (Authorization memory auth, bool passes) = _draw(user, relayer);
        (bytes32[] memory ids, bytes[] memory payloads) = _lists(prism, 1, mode);
        uint256 protocol = mode == 2 ? 0 : cloud.protocolFee();
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
    function _many(uint256 relayer, uint256 mode) private {
        uint256 prism = _aim(true);
        mode = _modeFor(prism, mode);
        uint256 user = _actor(prism);
        (Authorization memory auth, bool passes) = _draw(user, relayer);
        (bytes32[] memory ids, bytes[] memory payloads) = _lists(prism, 3, mode);
        uint256 protocol = mode == 2 ? 0 : cloud.protocolFee();
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
    function _own(uint256 relayer, uint256 kind) private {
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

    /// @dev BATCH_MULTI_USER_WRITE_DATA: each entry by itself.
    function _multiUser(uint256 relayer) private {
        WriteEntry[] memory batch = new WriteEntry[](1 + _pick(4));
        bool[] memory isRight = new bool[](batch.length);
        uint256[] memory touched = new uint256[](batch.length);
        uint256 fees = 0;
        uint256 written = 0;
        for (uint256 i = 0; i < batch.length; ++i) {
            touched[i] = _aim(true);
            if (!_hasRoom(touched[i], 0)) touched[i] = _aim(true);
            (batch[i], isRight[i]) = _entry(relayer, touched[i]);
            if (!isRight[i]) continue;
            fees += batch[i].auth.relayerFee;
            ++written;
        }
        _earn(relayer, fees, written * cloud.protocolFee());
        bool isStarved = _pick(8) == 0;
        (bool success, bytes memory answer) = relayers[relayer].act(
            address(forwarder),
            abi.encodeCall(forwarder.batchMultiUserWriteData, (batch)),
            isStarved ? 40_000 + _pick(400_000 * batch.length) : gasleft()
        );
        if (isStarved && !success) revert Undone();
        _check(success, "a whole batch was refused");
        RefusedEntry[] memory list = abi.decode(answer, (RefusedEntry[]));
        _check(list.length == batch.length - written, "another number of entries was refused");
        uint256 place = 0;
        for (uint256 i = 0; i < batch.length; ++i) {
            if (!isRight[i]) _check(list[place++].index == i, "another entry was refused");
            _checkPrism(touched[i]);
        }
        done[MULTI_USER] += written;
        refused += batch.length - written;
        for (uint256 user = 0; user < USERS; ++user) _checkUser(user);
        _checkEarnings();
    }

    function _entry(uint256 relayer, uint256 prism) private returns (WriteEntry memory entry, bool passes) {
        uint256 user = _actor(prism);
        (entry.auth, passes) = _draw(user, relayer);
        (bytes32[] memory ids, bytes[] memory payloads) = _lists(prism, 1, 0);
        (entry.cloudId, entry.dataId, entry.payload) = (_cloudId(prism), ids[0], payloads[0]);
        uint256 due = entry.auth.relayerFee + cloud.protocolFee();
        passes = passes && _pays(prism, user, due) && _fits(prism, ids, payloads, 0);
        bytes32 structHash =
            hashes.writeDataFor(entry.cloudId, entry.dataId, entry.payload, entry.auth, nonces[user]);
        passes = _seal(entry.auth, user, structHash) && passes;
        if (!passes) return (entry, false);
        prisms[prism].balance -= due;
        ++nonces[user];
        _put(prism, ids, payloads, 0);
    }

    function _fund(uint256 relayer) private {
        uint256 prism = _aim(true);
        Prism storage model = prisms[prism];
        uint256 held = token.balanceOf(address(relayers[relayer]));
        uint256 amount = _pick(8) == 0 ? held + 1 : _pick(300);
        (bool success,) = relayers[relayer].act(
            address(cloud), abi.encodeCall(cloud.fundPrism, (_cloudId(prism), amount)), gasleft()
        );
        _check(success == (model.owner != address(0) && amount <= held), "funding");
        // What has been spent of the sponsor's credits does not come back with credits of others.
        if (success && model.sponsored > model.balance) model.sponsored = model.balance;
        if (success) model.balance += amount;
        _checkPrism(prism);
    }

    function _invalidate() private {
        uint256 user = _pick(WALLETS);
        HostileWallet(users[user]).execute(address(forwarder), abi.encodeCall(forwarder.invalidateNonce, ()));
        ++nonces[user];
        _checkUser(user);
    }

    /// @dev Wallets change their ways, and users get credits to found prisms with.
    function _behave() private {
        uint256 user = _pick(USERS);
        if (user >= WALLETS && _pick(3) == 0) _usePermit(user, _pick(50));
        if (users[user].code.length != 0) {
            // Mostly honest.
            uint256 mode = _pick(4) == 0 ? _pick(6) : 0;
            bytes memory again = _pick(2) == 0
                ? abi.encodeCall(forwarder.invalidateNonce, ())
                : abi.encodeCall(forwarder.batchMultiUserWriteData, (new WriteEntry[](1)));
            HostileWallet(users[user]).behave(HostileWallet.Mode(mode), address(forwarder), again);
        }
        if (token.balanceOf(users[user]) < 500) token.transfer(users[user], 1000);
    }

    function _payOut(uint256 relayer) private {
        address account = address(relayers[relayer]);
        address treasury = cloud.treasury();
        (uint256 held, uint256 kept) = (token.balanceOf(account), token.balanceOf(treasury));
        cloud.payOutEarnings(account);
        _check(token.balanceOf(account) == held + earned[relayer], "the relayer got another amount");
        _check(token.balanceOf(treasury) == kept + treasuryEarned[relayer], "the treasury got another amount");
        (earned[relayer], treasuryEarned[relayer]) = (0, 0);
        _checkEarnings();
    }

    /// @dev What an owner may do at any time.
    function _govern(uint256 relayer) private {
        uint256 kind = _pick(4);
        uint32 window = _pick(2) == 0 ? 0 : uint32(_pick(90));
        if (kind == 0) cloud.setFees(uint96(_pick(30)), address(uint160(0x7ea5 + _pick(2))));
        else if (kind == 1) forwarder.setPolicy(window, window + uint32(_pick(100)), uint16(_pick(10_001)));
        else forwarder.setOfficialRelayer(address(relayers[relayer]), kind == 2);
    }

    /// @dev What nobody else may do.
    function _trespass(uint256 relayer) private {
        uint256 kind = _pick(6);
        address account = address(relayers[relayer]);
        bytes32 cloudId = _cloudId(_pick(PRISMS));
        bytes memory data;
        if (kind == 0) data = abi.encodeCall(cloud.accrue, (account, 9, 9, 1));
        else if (kind == 1) data = abi.encodeCall(cloud.writeEntryOfBatch, (account, cloudId, 0, "", 0));
        else if (kind == 2) data = abi.encodeCall(cloud.setFees, (0, account));
        else if (kind == 3) data = abi.encodeCall(forwarder.setOfficialRelayer, (account, true));
        else if (kind == 4) data = abi.encodeCall(forwarder.setPolicy, (0, 1, 10_000));
        else data = abi.encodeCall(cloud.core().addEntry, (cloudId, 0, ""));
        address target = kind < 3 ? address(cloud) : kind < 5 ? address(forwarder) : address(cloud.core());
        (bool success,) = relayers[relayer].act(target, data, gasleft());
        _check(!success, "a stranger was heard");
    }
}
