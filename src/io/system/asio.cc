// Boost.Asio, compiled once: the only file with its sources (BOOST_ASIO_SEPARATE_COMPILATION).
#include <boost/asio/impl/src.hpp>
