/* SPDX-License-Identifier: Apache-2.0 */
/* A connection object changes state in one method and is asked for it by another thread. */
#include "../harness.h"

class Connection
{
      public:
	void advance()
	{
		state_ = state_ == Closed ? Open : Closed; /* RACE a */
		changes_++;				   /* RACE b */
	}
	bool open() const
	{
		return state_ == Open; /* RACE a */
	}
	unsigned changes() const
	{
		return changes_; /* RACE b */
	}

      private:
	enum State : unsigned char { Closed, Open };
	State state_ = Closed;
	unsigned changes_ = 0;
};

static Connection *connection;

static void *drive(void *)
{
	while (running()) {
		connection->advance();
		pace_warm();
	}
	return nullptr;
}

static void *poll(void *)
{
	while (running()) {
		if (connection->open())
			consume(connection->changes());
		pace_warm();
	}
	return nullptr;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 3);
	connection = new Connection;
	harness_start(drive, 1);
	harness_start(poll, harness_threads - 1);
	harness_finish();
	delete connection;
	return 0;
}
