"""The SDK's Blob checkpoint store by itself, for the suite of mixed fleets:

positions.py set STORAGE CONTAINER NAMESPACE HUB GROUP PARTITION OFFSET SEQUENCE
positions.py list STORAGE CONTAINER NAMESPACE HUB GROUP
"""

import json
import sys

from azure.eventhub.extensions.checkpointstoreblob import BlobCheckpointStore

what, storage, container, *rest = sys.argv[1:]
store = BlobCheckpointStore.from_connection_string(storage, container)
if what == "set":
    namespace, hub, group, partition, offset, sequence = rest
    store.update_checkpoint({"fully_qualified_namespace": namespace, "eventhub_name": hub, "consumer_group": group,
                             "partition_id": partition, "offset": offset, "sequence_number": int(sequence)})
else:
    print(json.dumps([[each["partition_id"], each["offset"], each["sequence_number"]]
                      for each in store.list_checkpoints(*rest)]))
