// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/worker_table_model.h"

#include "widgets/axis_ticks.h"

#include <QLocale>

namespace gradlab::widgets {

namespace {

using engine::ClusterMember;
using engine::MemberState;

bool isNumber(int column) {
    return column != WorkerTableModel::Name && column != WorkerTableModel::Host &&
           column != WorkerTableModel::State;
}

QVariant number(const ClusterMember& member, int column) {
    switch (column) {
    case WorkerTableModel::Rank:
        return member.state == MemberState::Spare ? QVariant() : QVariant(member.rank);
    case WorkerTableModel::Process:
        return QVariant::fromValue<qlonglong>(member.pid);
    case WorkerTableModel::Step:
        return QVariant::fromValue<qulonglong>(member.step);
    case WorkerTableModel::StepTime:
        return member.stepS;
    case WorkerTableModel::BytesUp:
        return member.bytesUp;
    case WorkerTableModel::BytesDown:
        return member.bytesDown;
    case WorkerTableModel::Heard:
        return member.heardAgoS;
    case WorkerTableModel::RoundTrip:
        return member.roundTripS;
    default:
        return {};
    }
}

QString seconds(double value) {
    return value > 0.0 ? QString::fromStdString(formatValue(value, ValueKind::Seconds))
                       : QStringLiteral("–");
}

QString bytes(double value) {
    return QString::fromStdString(formatValue(value, ValueKind::Bytes));
}

} // namespace

QString stateText(const ClusterMember& member) {
    if (member.suspended)
        return WorkerTableModel::tr("frozen on purpose");
    switch (member.state) {
    case MemberState::Starting:
        return WorkerTableModel::tr("starting");
    case MemberState::Joining:
        return WorkerTableModel::tr("joining");
    case MemberState::Active:
        return WorkerTableModel::tr("active");
    case MemberState::Computing:
        return WorkerTableModel::tr("computing");
    case MemberState::Stalled:
        return WorkerTableModel::tr("silent");
    case MemberState::Straggling:
        return WorkerTableModel::tr("slow");
    case MemberState::Lost:
        return WorkerTableModel::tr("lost");
    case MemberState::Spare:
        return WorkerTableModel::tr("spare");
    case MemberState::Ended:
        return WorkerTableModel::tr("ended");
    }
    return {};
}

WorkerTableModel::WorkerTableModel(QObject* parent) : QAbstractTableModel(parent) {}

void WorkerTableModel::setMembers(const std::vector<ClusterMember>& members) {
    const int before = rowCount();
    const int after = static_cast<int>(members.size());
    if (after > before)
        beginInsertRows({}, before, after - 1);
    else if (after < before)
        beginRemoveRows({}, after, before - 1);
    members_ = members;
    if (after > before)
        endInsertRows();
    else if (after < before)
        endRemoveRows();
    if (after > 0)
        Q_EMIT dataChanged(index(0, 0), index(after - 1, ColumnCount - 1));
}

const ClusterMember* WorkerTableModel::member(int row) const {
    return row >= 0 && row < rowCount() ? &members_[static_cast<std::size_t>(row)] : nullptr;
}

int WorkerTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(members_.size());
}

int WorkerTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QString WorkerTableModel::text(const ClusterMember& member, int column) const {
    const QLocale locale;
    switch (column) {
    case Rank:
        return member.state == MemberState::Spare ? QStringLiteral("–")
                                                  : locale.toString(member.rank);
    case Name:
        return QString::fromStdString(member.name);
    case Host:
        return QString::fromStdString(member.host);
    case Process:
        return member.local ? tr("%1 (here)").arg(member.pid) : QString::number(member.pid);
    case State:
        return stateText(member);
    case Step:
        return locale.toString(static_cast<qulonglong>(member.step));
    case StepTime:
        return seconds(member.stepS);
    case BytesUp:
        return bytes(member.bytesUp);
    case BytesDown:
        return bytes(member.bytesDown);
    case Heard:
        return tr("%1 s ago").arg(locale.toString(member.heardAgoS, 'f', 1));
    case RoundTrip:
        return seconds(member.roundTripS);
    default:
        return {};
    }
}

QVariant WorkerTableModel::data(const QModelIndex& index, int role) const {
    const ClusterMember* one = member(index.row());
    if (one == nullptr)
        return {};
    const int column = index.column();
    switch (role) {
    case Qt::DisplayRole:
        return text(*one, column);
    case kSortRole:
        return isNumber(column) ? number(*one, column) : QVariant(text(*one, column));
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(
            Qt::Alignment(Qt::AlignVCenter | (isNumber(column) ? Qt::AlignRight : Qt::AlignLeft)));
    default:
        return {};
    }
}

QVariant WorkerTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return QAbstractTableModel::headerData(section, orientation, role);
    switch (section) {
    case Rank:
        return tr("Worker");
    case Name:
        return tr("Name");
    case Host:
        return tr("Host");
    case Process:
        return tr("Process");
    case State:
        return tr("State");
    case Step:
        return tr("Step");
    case StepTime:
        return tr("Step time");
    case BytesUp:
        return tr("Sent");
    case BytesDown:
        return tr("Received");
    case Heard:
        return tr("Heard");
    case RoundTrip:
        return tr("Round trip");
    default:
        return {};
    }
}

} // namespace gradlab::widgets
