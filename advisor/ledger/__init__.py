"""What a decode step stores, streams, writes and computes, counted tensor by tensor."""
